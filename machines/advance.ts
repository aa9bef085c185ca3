import {
  type AnyStateMachine,
  type EventFromLogic,
  type SnapshotFrom,
  type StateValue,
  transition,
} from 'xstate';

/**
 * Asks a machine where an event leads from a stored state, without an actor: for records whose status is
 * decided by a statechart but which nothing keeps alive (dispatches, tool calls, runs that wait in the store).
 */

/** The event is not legal in this state. */
export class IllegalTransition extends Error {
  constructor(machine: string, state: string, event: string) {
    super(`${machine}: '${event}' is not allowed in state '${state}'`);
    this.name = 'IllegalTransition';
  }
}

type From<Machine extends AnyStateMachine> = { value: StateValue; context: SnapshotFrom<Machine>['context'] };

/** @throws IllegalTransition */
export const advance = <Machine extends AnyStateMachine>(
  machine: Machine,
  from: From<Machine>,
  event: EventFromLogic<Machine>,
): SnapshotFrom<Machine> => {
  const state = machine.resolveState(from);
  if (state.status !== 'active' || !state.can(event)) {
    throw new IllegalTransition(machine.id, JSON.stringify(from.value), event.type);
  }
  // Snapshots of this very machine go in and come out; the generic signatures forget which machine that is.
  const [next] = transition(machine as AnyStateMachine, state, event);
  return next as SnapshotFrom<Machine>;
};

const MOST_ANSWERS = 1000;

/**
 * `advance` with a memory, for a machine whose contexts and events are plain data with few different values:
 * asking is pure, and a remembered answer costs a twentieth.
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
