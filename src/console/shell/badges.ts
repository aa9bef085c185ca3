import { connection, isConnected } from '../data/connection.ts';
import { anything, flag, object, text, withDefault } from '../data/guard.ts';
import { useIdentity } from '../data/identity.ts';
import { useResource } from '../data/queries.ts';
import { NamedRecord, recordsOf } from '../data/records.ts';
import { diagnostics } from '../data/resources.ts';
import { useAtom } from '../data/use-atom.ts';
import type { Tone } from '../design/Chip.tsx';
import { useIsScreen } from '../navigation/screen-paths.ts';
import { undecidedIn, waitingRunsSlowly } from '../run-records/waiting.ts';

/** Badges of the sidebar, from one inexpensive read per minute. */

export type Badge = { count: number; tone: Tone };

const EVERY_MS = 60_000;

const ProviderRecord = object({ id: text, has_api_key: withDefault(flag, false), adapter: anything });

export const useBadges = (): Readonly<Record<string, Badge | undefined>> => {
  const isScreen = useIsScreen();
  const { isPending } = useIdentity();
  const status = useAtom(connection);
  const wants = (path: string): boolean => status === 'ok' && isScreen(path);
  const runs = useResource(waitingRunsSlowly, !isPending && isConnected(status) && isScreen('/inbox')).data;
  const found = useResource(diagnostics, wants('/diagnostics')).data;
  const servers = useResource(recordsOf('mcp-servers', NamedRecord, EVERY_MS), wants('/mcp-servers')).data;
  const providers = useResource(recordsOf('providers', ProviderRecord, EVERY_MS), wants('/providers')).data;
  const errors = found?.diagnostics.filter(({ severity }) => severity === 'error').length ?? 0;
  const keyless =
    providers?.filter((record) => !record.has_api_key && record.adapter !== 'scripted').length ?? 0;
  const badge = (count: number | undefined, tone: Tone): Badge | undefined =>
    count ? { count, tone } : undefined;
  return {
    '/inbox': badge(runs && undecidedIn(runs), 'warn'),
    '/diagnostics': badge(errors, 'error'),
    '/mcp-servers': badge(servers?.length, 'none'),
    '/providers': badge(keyless, 'warn'),
  };
};
