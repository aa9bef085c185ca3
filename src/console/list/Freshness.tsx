import { connection } from '../data/connection.ts';
import type { Loaded } from '../data/queries.ts';
import { useAtom } from '../data/use-atom.ts';
import { IconButton } from '../design/Button.tsx';
import { Dot } from '../design/Chip.tsx';
import { useNow } from '../design/Time.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import listTexts from './texts.json' with { type: 'json' };

export type Fresh = {
  /** Time of the last read in milliseconds. */
  at: number;
  busy: boolean;
  refresh: () => void;
  /** Milliseconds between reads, if the list polls. */
  every?: number | undefined;
};

export const freshOf = <T,>(query: Loaded<T>, every?: number): Fresh => ({
  at: query.dataUpdatedAt,
  busy: query.isFetching,
  refresh: () => void query.refetch(),
  every,
});

/** Number of missed polls after which the data is marked as stale. */
const MISSED = 3;

export const Freshness = ({ at, busy, refresh, every }: Fresh) => {
  const t = useTexts(listTexts);
  const format = useFormat();
  const now = Math.max(useNow(), at);
  const isCut = useAtom(connection) === 'disconnected';
  if (at === 0) return null;
  const isStale = isCut || (every !== undefined && now - at > MISSED * every);
  return (
    <span className="row quiet">
      {isStale && <Dot tone="none" />}
      {isCut ? t('asOf', { time: format.clock(at) }) : t('updated', { age: format.age(at, now) })}
      <IconButton small icon="refresh" label={t('refresh')} onClick={refresh} disabled={busy} />
    </span>
  );
};
