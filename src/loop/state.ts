import type { RunStatus, StateSnapshot } from '../schema/run.ts';

/**
 * Keyed state of a run (agent-loop.md 13). `revision` grows with every change; a snapshot holds all keys.
 * Values are replaced, never changed in place, so a snapshot may share them.
 */
type Extensions = StateSnapshot['extensions'];
type Value = Extensions[string];

export type RunState = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  snapshot(): StateSnapshot;
};

export const createRunState = (initial: StateSnapshot | null): RunState => {
  let revision = initial?.revision ?? 0;
  let extensions: Extensions = initial?.extensions ?? {};
  return {
    get: (key) => extensions[key],
    set(key, value) {
      revision += 1;
      extensions = { ...extensions, [key]: value };
    },
    snapshot: () => ({ revision, extensions }),
  };
};

export type Lifecycle = {
  run_id: string;
  status: RunStatus;
  status_reason?: string;
  /** milliseconds */
  updated_at: number;
  step_count: number;
};

export const setLifecycle = (state: RunState, lifecycle: Lifecycle): void =>
  state.set('__runtime.run_lifecycle', lifecycle);

/** The part of a run that new user input began (runtime.md 6.2, agent-loop.md 8). */
export type TurnMark = { turn_id: string; first_step: number };

const TURN = '__runtime.turn';

export const setTurnMark = (state: RunState, mark: TurnMark): void => state.set(TURN, mark);

// Only setTurnMark writes under this key.
export const turnMark = (state: RunState): TurnMark | undefined => state.get(TURN) as TurnMark | undefined;
