import { useMemo } from 'react';
import { list, object, text } from '../data/guard.ts';
import { type Resource, useResource } from '../data/queries.ts';
import { pathOf, send } from '../data/request.ts';
import { Run } from '../run-records/run.ts';
import { type Span, toolName } from './span.ts';

/** Runs of delegates that have not ended: each has a separate thread below the thread of this run. */

const Threads = object({ items: list(object({ id: text })) });
const Runs = object({ items: list(Run) });

/** Maximum number of child threads that are searched, newest first. */
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
  return found;
};

/** The path equals that of the run, so that invalidating the run refetches these as well. */
const childRuns = (run: Run): Resource<Run[]> => ({
  path: pathOf`/v1/runs/${run.run_id}`,
  query: { children: true },
  guard: list(Run),
  read: (signal) => readChildren(run, signal),
});

/** The result of a delegating call contains the id of its run; before that, the run refers to the call. */
export const useChildren = (run: Run, spans: readonly Span[]): ReadonlyMap<string, string> => {
  const isAsked = spans.some(
    ({ kind, name, childRunId }) =>
      kind === 'tool' && childRunId === undefined && toolName(name).agent !== undefined,
  );
  const found = useResource(childRuns(run), isAsked).data;
  return useMemo(
    () =>
      new Map(
        found?.flatMap(({ run_id, activation }) => {
          const call = activation?.trace?.parent_tool_call_id;
          return call === undefined ? [] : [[call, run_id] as const];
        }),
      ),
    [found],
  );
};
