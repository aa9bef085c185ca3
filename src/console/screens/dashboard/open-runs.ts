import { isWithin, type Range, sinceAndUntil } from '../../activity/range.ts';
import { list, number, object } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';
import { Run } from '../../run-records/run.ts';

/** Runs that execute or wait now, and those that failed. */

const Runs = object({ items: list(Run), total: number });

const runsWith = (query: Resource<unknown>['query'], every = 10_000): Resource<ReturnType<typeof Runs>> => ({
  path: '/v1/runs',
  query: { preview: true, ...query },
  guard: Runs,
  every,
  keeps: true,
});

export const RUNNING = runsWith({ status: 'running', sort: '-created', limit: 6 }, 5000);

/** Decisions are counted among these. */
export const WAITING = runsWith({ status: 'waiting', sort: '-created', limit: 200 });

/** The newest failures. Those of a range that has ended are found by the time of their creation. */
export const failuresIn = (range: Range, agent: string | undefined): ReturnType<typeof runsWith> => {
  const { since, until } = sinceAndUntil(range, 0) ?? {};
  const within =
    range.until === undefined
      ? { sort: '-changed' }
      : { sort: '-created', created_after: since, created_before: until };
  return runsWith({ outcome: 'failed,blocked', agent_id: agent, limit: 20, ...within });
};

export const endedIn = (runs: readonly Run[], range: Range, now: number): Run[] =>
  runs.filter(
    (run) => range.until !== undefined || isWithin(range, (run.finished_at ?? run.updated_at) * 1000, now),
  );
