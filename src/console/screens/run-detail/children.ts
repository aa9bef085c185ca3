import { list, object, text } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { Run } from '../../runs/run.ts';

/** Runs that others do for this one: each is on a thread of its own below that of this run. */

const Threads = object({ items: list(object({ id: text })) });
const Runs = object({ items: list(Run) });

/** So many threads below it are looked at; who delegates more often sees the newest. */
const MOST = 50;

const readChildren = async (run: Run, signal: AbortSignal): Promise<Run[]> => {
  const query = { parent_thread_id: run.thread_id, limit: MOST };
  const threads = await send({ path: '/v1/threads/summaries', query, signal }, Threads);
  const found: Run[] = [];
  for (const { id } of threads.items) {
    const { items } = await send(
      { path: pathOf`/v1/threads/${id}/runs`, query: { limit: 200 }, signal },
      Runs,
    );
    found.push(...items.filter(({ parent_run_id }) => parent_run_id === run.run_id));
  }
  return found.sort((a, b) => a.created_at - b.created_at);
};

/** Below the path of the run, so that what changes it reads them again too. */
export const childRuns = (run: Run): Resource<Run[]> => ({
  path: pathOf`/v1/runs/${run.run_id}`,
  query: { children: true },
  guard: list(Run),
  read: (signal) => readChildren(run, signal),
});
