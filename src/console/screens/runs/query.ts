import { RUN_OUTCOMES, type RunSort } from '../../../schema/run-query.ts';
import type { Outgoing } from '../../data/request.ts';
import type { Query, Sorting } from '../../list/list-state.ts';
import type { Direction } from '../../list/order.ts';
import { instantOf } from '../../run-records/filters.ts';

/** The list of runs that the service is asked for, according to the address of the screen. */

export const TABS = ['running', 'waiting', 'failed', 'done'] as const;
export type Tab = (typeof TABS)[number] | 'created';

/** The tab of queued runs is shown only while there are some. */
export const tabOf = ({ status }: Query): Tab | undefined =>
  status === 'created' ? status : TABS.find((each) => each === status);

/** The orders of the service by column. */
export const SORTS: Readonly<Record<string, Partial<Record<Direction, RunSort>>>> = {
  began: { desc: '-created', asc: 'created' },
  changed: { desc: '-changed' },
  took: { desc: '-duration' },
  tokens: { desc: '-tokens' },
  cost: { desc: '-cost' },
};

const BY_CREATION: Sorting = { id: 'began', direction: 'desc' };
const BY_CHANGE: Sorting = { id: 'changed', direction: 'desc' };

/** The service has an index of outcomes and agents in the order of changes. */
export const usualSort = (address: Query): Sorting =>
  address.outcome !== undefined || address.agent !== undefined || tabOf(address) === 'failed'
    ? BY_CHANGE
    : BY_CREATION;

const sortOf = (address: Query): RunSort => {
  const usual = usualSort(address);
  const { sort = usual.id, dir = address.sort === undefined ? usual.direction : 'asc' } = address;
  return SORTS[sort]?.[dir === 'desc' ? 'desc' : 'asc'] ?? '-created';
};

const RANKED: readonly RunSort[] = ['-duration', '-tokens', '-cost'];

const outcomeOf = (address: Query): string | undefined => {
  const { outcome } = address;
  if (RUN_OUTCOMES.some((each) => each === outcome)) return outcome;
  return tabOf(address) === 'failed' ? 'failed,blocked' : undefined;
};

export const runQuery = (
  address: Query,
  now: number,
): { path: string; query: NonNullable<Outgoing['query']>; isRanked: boolean } => {
  const tab = tabOf(address);
  const sort = sortOf(address);
  const { thread, agent, since, after, before, q } = address;
  return {
    path: thread === undefined ? '/v1/runs' : `/v1/threads/${encodeURIComponent(thread)}/runs`,
    query: {
      status: tab === 'failed' ? undefined : tab,
      outcome: outcomeOf(address),
      agent_id: agent,
      created_after: after ?? instantOf(since, now),
      created_before: before,
      q,
      sort,
      preview: true,
    },
    isRanked: RANKED.includes(sort),
  };
};
