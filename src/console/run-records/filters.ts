import { RUN_OUTCOMES } from '../../schema/run-query.ts';
import { useResource } from '../data/queries.ts';
import { NamedRecord, recordsOf } from '../data/records.ts';
import { useTexts } from '../i18n/locale.ts';
import type { Filter } from '../list/FilterBar.tsx';
import texts from './texts.json' with { type: 'json' };

/** Filters that several lists of runs have. */

/** In milliseconds. */
const SINCE = {
  '5m': 300_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
} as const;

type Since = keyof typeof SINCE;

const isSince = (value: string | undefined): value is Since =>
  value !== undefined && Object.hasOwn(SINCE, value);

/** The start of a time range, rounded to a minute, so that consecutive reads share a cache key. */
export const instantOf = (since: string | undefined, now: number): string | undefined =>
  isSince(since) ? new Date(Math.floor(now / 60_000) * 60_000 - SINCE[since]).toISOString() : undefined;

const AGENTS = recordsOf('agents', NamedRecord);

export const useAgentFilter = (): Filter => {
  const t = useTexts(texts);
  const agents = useResource(AGENTS).data ?? [];
  return { key: 'agent', kind: 'choice', label: t('agent'), options: agents.map(({ id }) => [id, id]) };
};

export const useRunFilters = (): readonly Filter[] => {
  const t = useTexts(texts);
  const agent = useAgentFilter();
  return [
    {
      key: 'outcome',
      kind: 'choice',
      label: t('outcome'),
      options: RUN_OUTCOMES.map((each) => [each, t(`state.${each}`)]),
    },
    agent,
    {
      key: 'since',
      kind: 'choice',
      label: t('since'),
      options: Object.keys(SINCE)
        .filter(isSince)
        .map((each) => [each, t(`since.${each}`)]),
    },
  ];
};
