import { list, number, object } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';
import { send } from '../../data/request.ts';
import { Run } from '../../run-records/run.ts';

/** The waiting runs, oldest first, as many pages of them as the user has loaded. */

/** Maximum page size of the service. */
export const PAGE = 200;

const RunPage = object({ items: list(Run), total: number });
export type Waiting = ReturnType<typeof RunPage>;

/** Runs that stop waiting move the others, so a run may be on two pages. */
const readPages = async (pages: number, signal: AbortSignal): Promise<Waiting> => {
  const runs = new Map<string, Run>();
  let total = 0;
  for (let page = 0; page < pages; page += 1) {
    const query = { status: 'waiting', offset: page * PAGE, limit: PAGE };
    const got = await send({ path: '/v1/runs', query, signal }, RunPage);
    for (const run of got.items) runs.set(run.run_id, run);
    total = got.total;
    if (got.items.length < PAGE) break;
  }
  return { items: [...runs.values()], total };
};

/** @param every polling interval; undefined while a feed reports the transitions */
export const waitingRuns = (pages: number, every: number | undefined): Resource<Waiting> => ({
  path: '/v1/runs',
  query: { status: 'waiting', pages },
  guard: RunPage,
  read: (signal) => readPages(pages, signal),
  every,
  keeps: true,
});
