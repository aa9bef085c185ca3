import {
  type AnyStateMachine,
  type EventFromLogic,
  type SnapshotFrom,
  type StateValue,
  transition,
} from 'xstate';

/**
 * Computes transitions of stored records without an actor: for records whose status is decided by a statechart but
 * which have no running actor (dispatches, tool calls, runs that wait in the store).
 */

/** The event is not allowed in this state. */
export class IllegalTransition extends Error {
  constructor(machine: string, state: string, event: string) {
    super(`${machine}: '${event}' is not allowed in state '${state}'`);
    this.name = 'IllegalTransition';
  }
}

type From<Machine extends AnyStateMachine> = { value: StateValue; context: SnapshotFrom<Machine>['context'] };

/**
 * Returns the snapshot that follows `from` after `event`. A pure function: it executes no actions.
 *
 * @throws IllegalTransition
 */
export const advance = <Machine extends AnyStateMachine>(
  machine: Machine,
  from: From<Machine>,
  event: EventFromLogic<Machine>,
): SnapshotFrom<Machine> => {
  const state = machine.resolveState(from);
  if (state.status !== 'active' || !state.can(event)) {
    throw new IllegalTransition(machine.id, JSON.stringify(from.value), event.type);
  }
  // Both snapshots belong to `machine`; the generic signature of `transition` loses that type.
  const [next] = transition(machine as AnyStateMachine, state, event);
  return next as SnapshotFrom<Machine>;
};

const MOST_ANSWERS = 1000;

/**
 * A memoized `advance`, for machines whose contexts and events are plain data with few distinct values. `advance` is
 * pure, so results can be cached; a cached result costs a twentieth of a computed one.
 */
export const rememberingAdvance = <Machine extends AnyStateMachine>(machine: Machine) => {
  const answers = new Map<string, SnapshotFrom<Machine>>();
  return (from: From<Machine>, event: EventFromLogic<Machine>): SnapshotFrom<Machine> => {
    const question = JSON.stringify([from.value, from.context, event]);
    const known = answers.get(question);
    if (known) return known;
    const next = advance(machine, from, event);
    if (answers.size >= MOST_ANSWERS) answers.clear();
    answers.set(question, next);
    return next;
  };
};
