import type { RunTraces, TraceWriter } from '../runtime/deps.ts';

/** What a run tells goes to its trace and to its spans; where there is only one of them, straight to that. */
export const tellBoth = (
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
  write(batch, goesOn) {
    trace.write(batch, goesOn);
    span.write(batch, goesOn);
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
