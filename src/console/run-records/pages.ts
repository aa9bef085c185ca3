import type { Resource } from '../data/queries.ts';
import type { Outgoing } from '../data/request.ts';
import { type Paged, type PageOf, pageOf, readRows } from '../list/pages.ts';
import { Run } from './run.ts';

/** Lists of runs. */

const RunPage = pageOf(Run);

export const runPages = (query: Outgoing['query'], path = '/v1/runs'): Paged<Run> => ({
  path,
  query,
  guard: RunPage,
  idOf: ({ run_id }) => run_id,
});

export type RunsFilter = {
  status?: string | undefined;
  thread?: string | undefined;
  /** Requests the first words of the input of each run. */
  preview?: true;
};

/** The newest runs first, at least `most` of them if there are as many. */
export const newestRuns = (
  { status, thread, preview }: RunsFilter,
  most: number,
  every?: number,
): Resource<PageOf<Run>> => {
  const path = thread === undefined ? '/v1/runs' : `/v1/threads/${encodeURIComponent(thread)}/runs`;
  const query = { status, preview, sort: '-created' };
  return {
    path,
    query: { ...query, newest: most },
    guard: RunPage,
    read: (signal) => readRows(runPages(query, path), '', { signal, enough: most }),
    every,
  };
};
