import type { RunStatus, StateSnapshot } from '../schema/run.ts';
import type { StateKey, StateUpdate, StateView } from '../tools/state.ts';

/**
 * Keyed state of a run and of its thread (agent-loop.md 13). `revision` increases with every change; a snapshot
 * contains all keys but the hidden ones. Values are replaced, never mutated, so snapshots and views may share them.
 */
type Values = StateSnapshot['extensions'];
type Value = Values[string];

/** State stored outside the run record: keys of the thread, and hidden keys of the run. */
export type PersistedState = { thread: Values; threadHidden: Values; runHidden: Values };

export const NOTHING_KEPT: PersistedState = { thread: {}, threadHidden: {}, runHidden: {} };

export type RunState = {
  get(key: string): Value | undefined;
  /** Sets a visible key of the run. */
  set(key: string, value: Value): void;
  apply(updates: readonly StateUpdate[]): void;
  /** Returns the current values; later changes are not visible. */
  view(): StateView;
  /** All visible keys, as sent to clients. */
  snapshot(): StateSnapshot;
  /** The visible keys of the run, as stored in its record. */
  ofRun(): StateSnapshot;
  /** Returns the state stored outside the record, if it changed since the last call. */
  takePersisted(): PersistedState | undefined;
};

type Slots = { run: Values } & PersistedState;

const slotOf = ({ scope, hidden }: StateKey<unknown>): keyof Slots => {
  if (scope === 'run') return hidden ? 'runHidden' : 'run';
  return hidden ? 'threadHidden' : 'thread';
};

export const createRunState = (
  initial: StateSnapshot | null,
  kept: PersistedState = NOTHING_KEPT,
): RunState => {
  let revision = initial?.revision ?? 0;
  let slots: Slots = { run: initial?.extensions ?? {}, ...kept };
  let changed = false;

  const put = (slot: keyof Slots, key: string, value: Value | undefined): void => {
    revision += 1;
    const { [key]: _before, ...others } = slots[slot];
    slots = { ...slots, [slot]: value === undefined ? others : { ...slots[slot], [key]: value } };
    if (slot !== 'run') changed = true;
  };

  return {
    get: (key) => slots.run[key] ?? slots.thread[key],
    set: (key, value) => put('run', key, value),
    apply(updates) {
      // Updates are created by `update`, with a value of the key's own schema, which is JSON.
      for (const { key, value } of updates) put(slotOf(key), key.key, value as Value | undefined);
    },
    view() {
      const frozen = slots;
      // Values under a key were put there with the type of the key.
      return { get: <V>(key: StateKey<V>) => frozen[slotOf(key)][key.key] as V | undefined };
    },
    snapshot: () => ({ revision, extensions: { ...slots.thread, ...slots.run } }),
    ofRun: () => ({ revision, extensions: slots.run }),
    takePersisted() {
      if (!changed) return undefined;
      changed = false;
      const { run: _run, ...rest } = slots;
      return rest;
    },
  };
};

export type Lifecycle = {
  run_id: string;
  status: RunStatus;
  status_reason?: string;
  /** Milliseconds. */
  updated_at: number;
  step_count: number;
};

export const setLifecycle = (state: RunState, lifecycle: Lifecycle): void =>
  state.set('__runtime.run_lifecycle', lifecycle);

/** The start of the turn that new user input began (runtime.md 6.2, agent-loop.md 8). */
export type TurnMark = { turn_id: string; first_step: number };

const TURN = '__runtime.turn';

export const setTurnMark = (state: RunState, mark: TurnMark): void => state.set(TURN, mark);

// Only setTurnMark writes under this key.
export const turnMark = (state: RunState): TurnMark | undefined => state.get(TURN) as TurnMark | undefined;
