import type { RunTraces, TraceWriter } from '../../runtime/deps.ts';

/** Passes the facts of a run to its trace and to its spans; if only one of them exists, it is returned itself. */
export const combineListeners = (
  traces: RunTraces | undefined,
  spans: RunTraces | undefined,
): RunTraces | undefined => {
  if (!traces || !spans) return traces ?? spans;
  return {
    observes: (agent) => traces.observes(agent) || spans.observes(agent),
    open: (run) => both(traces.open(run), spans.open(run)),
    ended(batch, run_id, run) {
      traces.ended(batch, run_id, run);
      spans.ended(batch, run_id, run);
    },
  };
};

const both = (trace: TraceWriter, span: TraceWriter): TraceWriter => ({
  note(agent, fact) {
    trace.note(agent, fact);
    span.note(agent, fact);
  },
  contextAt: (place) => span.contextAt?.(place),
  write(batch, continues) {
    trace.write(batch, continues);
    span.write(batch, continues);
  },
  leave(batch) {
    trace.leave(batch);
    span.leave(batch);
  },
  end(batch, run) {
    trace.end(batch, run);
    span.end(batch, run);
  },
  close() {
    trace.close();
    span.close();
  },
});
