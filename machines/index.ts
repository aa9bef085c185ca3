/**
 * The catalog of all statecharts of the service, for visualizers, documentation and tests. They are XState 5 machines
 * without I/O: a program can draw them, or compute a transition with `transition` of `xstate`.
 *
 * @module troupe/machines
 */

/**
 * Conventions of every machine:
 * - Each activity or wait is a state, never a field alongside it. Its wire representation (a status, the reason of a
 *   wait, the state of a task) is a tag of that state, so that nothing derives it a second time.
 * - Each occurrence is one event, and the machine decides where it leads. Guards about the environment use the `host`
 *   in the context; actions and services are bound by the module that runs the machine.
 * - A working state invokes one service, which returns a result; the transition decides the next state.
 * - For a record without an actor, `advance` computes the transition from the state that the record represents (for
 *   runs: `src/schema/run-state.ts`).
 * - The description of every state and transition explains what it means to a user.
 */
import { a2aTaskMachine } from './a2a-task.ts';
import { authorizationMachine } from './authorization.ts';
import { circuitBreakerMachine } from './circuit-breaker.ts';
import { dispatchMachine } from './dispatch.ts';
import { evalRunMachine } from './eval-run.ts';
import { mcpConnectionMachine } from './mcp-connection.ts';
import { mcpSessionMachine } from './mcp-session.ts';
import { memberMachine } from './member.ts';
import { pushDeliveryMachine } from './push-delivery.ts';
import { remoteTaskMachine } from './remote-task.ts';
import { responseMachine } from './response.ts';
import { runMachine } from './run.ts';
import { threadMachine } from './thread.ts';
import { toolCallMachine } from './tool-call.ts';

export {
  a2aTaskMachine,
  authorizationMachine,
  circuitBreakerMachine,
  dispatchMachine,
  evalRunMachine,
  mcpConnectionMachine,
  mcpSessionMachine,
  memberMachine,
  pushDeliveryMachine,
  remoteTaskMachine,
  responseMachine,
  runMachine,
  threadMachine,
  toolCallMachine,
};

/**
 * All statecharts by their names, as in `troupe machines --machine <name>`.
 *
 * @example
 * ```ts
 * for (const [name, machine] of Object.entries(machines)) console.log(name, Object.keys(machine.states));
 * ```
 */
export const machines = {
  thread: threadMachine,
  run: runMachine,
  'tool-call': toolCallMachine,
  dispatch: dispatchMachine,
  'circuit-breaker': circuitBreakerMachine,
  'push-delivery': pushDeliveryMachine,
  'a2a-task': a2aTaskMachine,
  'remote-task': remoteTaskMachine,
  response: responseMachine,
  'mcp-connection': mcpConnectionMachine,
  'mcp-session': mcpSessionMachine,
  'eval-run': evalRunMachine,
  authorization: authorizationMachine,
  member: memberMachine,
} as const;

/**
 * The name of a statechart in the catalog.
 *
 * @example
 * ```ts
 * const name: MachineName = 'tool-call';
 * console.log(machines[name].id);
 * ```
 */
export type MachineName = keyof typeof machines;
