import { useQueries } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { flag, object, optional, text, withDefault } from '../../data/guard.ts';
import { optionsOf, useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { diagnostics, type McpStatus, mcpStatus } from '../../data/resources.ts';
import { useAtom } from '../../data/use-atom.ts';
import { Dot, type Tone } from '../../design/Chip.tsx';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { tests } from '../providers/tests.ts';
import css from './Dashboard.module.css';
import { texts } from './texts.ts';

const EVERY_MS = 30_000;

const SERVERS = recordsOf('mcp-servers', NamedRecord, EVERY_MS);
const PROVIDERS = recordsOf(
  'providers',
  object({ id: text, adapter: optional(text), has_api_key: withDefault(flag, false) }),
);

export type ServerState = { id: string; status: McpStatus };

/** How each MCP server is; one that cannot be asked is left out. */
export const useServers = (): { count: number | undefined; states: ServerState[] } => {
  const servers = useResource(SERVERS).data;
  const found = useQueries({
    queries: (servers ?? []).map(({ id }) => optionsOf(mcpStatus(id, EVERY_MS))),
  });
  const states = (servers ?? []).flatMap(({ id }, index) => {
    const status = found[index]?.data;
    return status ? [{ id, status }] : [];
  });
  return { count: servers?.length, states };
};

const Line = ({ label, to, children }: { label: string; to: string; children: ReactNode }) => (
  <li>
    <span className={css.label}>
      <ScreenLink to={to}>{label}</ScreenLink>
    </span>
    <span className={css.states}>{children}</span>
  </li>
);

const State = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className={css.state}>
    <Dot tone={tone} />
    {children}
  </span>
);

const Servers = () => {
  const t = useTexts(texts);
  const { count, states } = useServers();
  if (count === undefined) return <span className={css.quiet}>…</span>;
  if (count === 0) return <span className={css.quiet}>{t('health.noServers')}</span>;
  const connected = states.filter(({ status }) => status.connected).length;
  return (
    <>
      <State tone={connected === count ? 'success' : 'warn'}>
        {t('health.connected', { connected, count })}
      </State>
      {states.map(({ id, status }) => {
        if (status.connected) return null;
        if (status.permanently_failed)
          return (
            <State key={id} tone="error">
              {t('health.givenUp', { id })}
            </State>
          );
        return (
          <State key={id} tone="warn">
            {t(status.reconnecting ? 'health.reconnecting' : 'health.failing', { id })}
          </State>
        );
      })}
    </>
  );
};

const Providers = () => {
  const t = useTexts(texts);
  const query = useResource(PROVIDERS);
  const failed = [...useAtom(tests).values()].filter(([newest]) => newest?.ok === false).length;
  return (
    <Loaded query={query} off={PROVIDERS.off} plain>
      {(providers) => {
        const keyless = providers.filter((one) => !one.has_api_key && one.adapter !== 'scripted').length;
        return (
          <>
            <State tone="success">{t('health.configured', { count: providers.length })}</State>
            {failed > 0 && <State tone="error">{t('health.failedTest', { count: failed })}</State>}
            {keyless > 0 && <State tone="warn">{t('health.noKey', { count: keyless })}</State>}
          </>
        );
      }}
    </Loaded>
  );
};

const Problems = () => {
  const t = useTexts(texts);
  const query = useResource(diagnostics);
  return (
    <Loaded query={query} off={diagnostics.off} plain>
      {({ diagnostics: found }) =>
        found.length === 0 ? (
          <State tone="success">{t('health.sound')}</State>
        ) : (
          <>
            <State tone={found.some(({ severity }) => severity === 'error') ? 'error' : 'warn'}>
              {t('health.problems', { count: found.length })}
            </State>
            <span className={css.quiet}>{found[0]?.message}</span>
          </>
        )
      }
    </Loaded>
  );
};

export const Health = () => {
  const t = useTexts(texts);
  return (
    <Card className={css.five} flush title={t('health.title')} note={t('health.note')}>
      <ul className={css.rows}>
        <Line label={t('health.providers')} to="/providers">
          <Providers />
        </Line>
        <Line label={t('health.mcp')} to="/mcp-servers">
          <Servers />
        </Line>
        <Line label={t('health.diagnostics')} to="/diagnostics">
          <Problems />
        </Line>
      </ul>
    </Card>
  );
};
