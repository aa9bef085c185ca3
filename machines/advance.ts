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

/** @throws IllegalTransition */
export const advance = <Machine extends AnyStateMachine>(
  machine: Machine,
  from: { value: StateValue; context: SnapshotFrom<Machine>['context'] },
  event: EventFromLogic<Machine>,
): SnapshotFrom<Machine> => {
  const state = machine.resolveState(from);
  if (!state.can(event)) throw new IllegalTransition(machine.id, JSON.stringify(from.value), event.type);
  // Snapshots of this very machine go in and come out; the generic signatures forget which machine that is.
  const [next] = transition(machine as AnyStateMachine, state, event);
  return next as SnapshotFrom<Machine>;
};
