import type { RunStatus, StateSnapshot } from '../schema/run.ts';
import type { StateKey, StateUpdate, StateView } from '../tools/state.ts';

/**
 * Keyed state of a run and of its thread (agent-loop.md 13). `revision` grows with every change; a snapshot holds
 * all keys but the hidden ones. Values are replaced, never changed in place, so a snapshot or view may share them.
 */
type Values = StateSnapshot['extensions'];
type Value = Values[string];

/** What lasts beside the run record: keys of the thread, and hidden keys of the run. */
export type KeptState = { thread: Values; threadHidden: Values; runHidden: Values };

export const NOTHING_KEPT: KeptState = { thread: {}, threadHidden: {}, runHidden: {} };

export type RunState = {
  get(key: string): Value | undefined;
  /** A visible key of the run. */
  set(key: string, value: Value): void;
  apply(updates: readonly StateUpdate[]): void;
  /** The values of now; later changes are not seen. */
  view(): StateView;
  /** What clients see: all visible keys. */
  snapshot(): StateSnapshot;
  /** What the run record keeps: visible keys of the run. */
  ofRun(): StateSnapshot;
  /** What must be kept elsewhere, when it changed since the last time. */
  takeKept(): KeptState | undefined;
};

type Slots = { run: Values } & KeptState;

const slotOf = ({ scope, hidden }: StateKey<unknown>): keyof Slots => {
  if (scope === 'run') return hidden ? 'runHidden' : 'run';
  return hidden ? 'threadHidden' : 'thread';
};

export const createRunState = (initial: StateSnapshot | null, kept: KeptState = NOTHING_KEPT): RunState => {
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
      // Updates are made by `update`, with a value of the key's own schema, which is JSON.
      for (const { key, value } of updates) put(slotOf(key), key.key, value as Value | undefined);
    },
    view() {
      const frozen = slots;
      // Values under a key were put there with the type of the key.
      return { get: <V>(key: StateKey<V>) => frozen[slotOf(key)][key.key] as V | undefined };
    },
    snapshot: () => ({ revision, extensions: { ...slots.thread, ...slots.run } }),
    ofRun: () => ({ revision, extensions: slots.run }),
    takeKept() {
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
