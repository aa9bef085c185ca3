import type { ResolvedAgent } from '../loop/agent.ts';
import type { ReplaySpans, RunTraces } from '../runtime/deps.ts';
import type { Run } from '../schema/run.ts';
import {
  contextAt,
  endRoot,
  endSpans,
  letGo,
  noteFact,
  openSpans,
  type RunSpans,
  type SpanDeps,
} from './spans.ts';

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
      close: () => letGo(spans),
    };
  },
  ended(_batch, _run_id, run) {
    const agent = deps.agentOf(run);
    if (run.started_at !== undefined && agent && deps.observes(agent)) endSpans(openSpans(deps, run), run);
  },
});

/** A root a run. */
export const createReplaySpans = (deps: SpanDeps): ReplaySpans => {
  const own: SpanDeps = { ...deps, isReplay: true, observes: () => true };
  let last: RunSpans | undefined;
  return {
    runs: {
      observes: own.observes,
      open(run) {
        if (last) letGo(last);
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
          // One that waits ends here: with what is decided for it begins another.
          close: () => end(run),
        };
      },
      ended: nothing,
    },
    settle(verdict) {
      if (last) letGo(last, verdict);
    },
  };
};
