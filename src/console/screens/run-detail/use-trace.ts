import { list, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { isOpen, type Run } from '../../runs/run.ts';
import { recentRuns, type TraceEvent, traceEvents } from '../../trace/traces.ts';

/** The trace of a run, where the service keeps traces and has one of it. Asks for nothing that is not there. */

const modules: Resource<string[]> = {
  path: '/v1/system/modules',
  guard: list(text),
  off: { statuses: [404] },
};

export type Trace = { isThere: boolean; events: readonly TraceEvent[] | undefined };

export const useTrace = (run: Run): Trace => {
  const isOver = !isOpen(run);
  const hasTraces = useResource(modules, isOver).data?.includes('trace') === true;
  const traced = useResource(recentRuns(run.agent_id), isOver && hasTraces).data;
  const isThere = traced?.runs.some(({ run_id }) => run_id === run.run_id) === true;
  const events = useResource(traceEvents(run.run_id), isThere).data;
  return { isThere, events };
};
