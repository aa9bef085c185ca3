import type { ResolvedAgent } from '../../loop/agent.ts';
import type { ReplaySpans, RunTraces } from '../../runtime/deps.ts';
import type { Run } from '../../schema/run.ts';
import {
  contextAt,
  endRoot,
  endSpans,
  noteFact,
  openSpans,
  type RunSpans,
  release,
  type SpanDeps,
} from './spans.ts';

/** Creates spans from the facts of runs; they are not written with the commits of the runs. */

type Deps = SpanDeps & {
  /** Returns the agent of a run without an execution; undefined when the agent was removed. */
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
      close: () => release(spans),
    };
  },
  ended(_batch, _run_id, run) {
    const agent = deps.agentOf(run);
    if (run.started_at !== undefined && agent && deps.observes(agent)) endSpans(openSpans(deps, run), run);
  },
});

/** Creates one root span per run. */
export const createReplaySpans = (deps: SpanDeps): ReplaySpans => {
  const own: SpanDeps = { ...deps, isReplay: true, observes: () => true };
  let last: RunSpans | undefined;
  return {
    runs: {
      observes: own.observes,
      open(run) {
        if (last) release(last);
        const spans = openSpans(own, run);
        last = spans;
        let isOpen = true;
        const end = (as: Run): void => {
          if (isOpen) endRoot(spans, as);
          isOpen = false;
        };
        return {
          note: (agent, fact) => noteFact(spans, agent, fact),
          contextAt: (place) => contextAt(spans, place),
          write: nothing,
          leave: nothing,
          end: (_batch, ended) => end(ended),
          // A waiting run ends here: the decision on it starts another run.
          close: () => end(run),
        };
      },
      ended: nothing,
    },
    settle(verdict) {
      if (last) release(last, verdict);
    },
  };
};
