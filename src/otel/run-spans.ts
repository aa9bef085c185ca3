import type { ResolvedAgent } from '../loop/agent.ts';
import type { RunTraces } from '../runtime/deps.ts';
import type { Run } from '../schema/run.ts';
import { contextAt, endSpans, noteFact, openSpans, type SpanDeps } from './spans.ts';

/** Makes spans of what runs tell; nothing of it is written with their commits. */

type Deps = SpanDeps & {
  /** The agent of a run that nothing executes; undefined when it is gone. */
  agentOf(run: Run): ResolvedAgent | undefined;
};

const nothing = (): void => {};

export const createRunSpans = (deps: Deps): RunTraces => ({
  observes: deps.observes,
  open(run) {
    const spans = openSpans(deps, run);
    return {
      note: (agent, fact) => noteFact(spans, agent, fact),
      contextAt: (place) => contextAt(spans, place),
      write: nothing,
      leave: nothing,
      end: (_batch, ended) => endSpans(spans, ended),
      close: nothing,
    };
  },
  ended(_batch, _run_id, run) {
    const agent = deps.agentOf(run);
    if (run.started_at !== undefined && agent && deps.observes(agent)) endSpans(openSpans(deps, run), run);
  },
});
