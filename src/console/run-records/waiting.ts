import { list, number, object } from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import { send } from '../data/request.ts';
import { Run } from './run.ts';

/** The waiting runs, oldest first, and those among them that need a decision. */

/** Maximum page size of the service. */
export const PAGE = 200;

const RunPage = object({ items: list(Run), total: number });
export type Waiting = ReturnType<typeof RunPage>;

/** Whether the run waits for a decision, and not only for a task, an event or its turn. */
export const waitsForDecision = ({ waiting }: Pick<Run, 'waiting'>): boolean =>
  (waiting?.tickets.length ?? 0) > 0;

/** Number of runs that wait for a decision. Runs that are not loaded are counted, too. */
export const undecidedIn = ({ items, total }: Waiting): number =>
  items.filter(waitsForDecision).length + Math.max(0, total - items.length);

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

/**
 * @param pages number of pages of the service
 * @param every polling interval; undefined while a feed reports the transitions
 */
export const waitingRuns = (pages: number, every: number | undefined): Resource<Waiting> => ({
  path: '/v1/runs',
  query: { status: 'waiting', pages },
  guard: RunPage,
  read: (signal) => readPages(pages, signal),
  every,
  keeps: true,
});

/** The first page for parts that are always visible. The inbox shares its cache. */
export const waitingRunsSlowly = waitingRuns(1, 60_000);
