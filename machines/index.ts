/**
 * The catalogue of every statechart of the service: what visualisers, documentation and tests read.
 *
 * How each of them is written:
 * - What something does or waits for is a state, never a field beside it; what the wire says of it (a status, the
 *   reason of a wait, the state of a task) is a tag of that state. Nobody derives it a second time.
 * - Whatever can happen is one event. The machine decides what it leads to; guards that ask about the world ask the
 *   `host` in the context, actions and services are bound by the room that runs the machine.
 * - A state that works invokes one service, which returns what it found; the transition says what comes next.
 * - Of a record that no actor holds, the machine is asked with `advance`, from the state that the record stands for
 *   (of a run: `src/schema/run-state.ts`).
 * - Every state and transition says in its description what it means to a user.
 */
import { a2aTaskMachine } from './a2a-task.ts';
import { circuitBreakerMachine } from './circuit-breaker.ts';
import { dispatchMachine } from './dispatch.ts';
import { evalRunMachine } from './eval-run.ts';
import { mcpConnectionMachine } from './mcp-connection.ts';
import { mcpSessionMachine } from './mcp-session.ts';
import { pushDeliveryMachine } from './push-delivery.ts';
import { remoteTaskMachine } from './remote-task.ts';
import { runMachine } from './run.ts';
import { threadMachine } from './thread.ts';
import { toolCallMachine } from './tool-call.ts';

export {
  a2aTaskMachine,
  circuitBreakerMachine,
  dispatchMachine,
  evalRunMachine,
  mcpConnectionMachine,
  mcpSessionMachine,
  pushDeliveryMachine,
  remoteTaskMachine,
  runMachine,
  threadMachine,
  toolCallMachine,
};

export const machines = {
  thread: threadMachine,
  run: runMachine,
  'tool-call': toolCallMachine,
  dispatch: dispatchMachine,
  'circuit-breaker': circuitBreakerMachine,
  'push-delivery': pushDeliveryMachine,
  'a2a-task': a2aTaskMachine,
  'remote-task': remoteTaskMachine,
  'mcp-connection': mcpConnectionMachine,
  'mcp-session': mcpSessionMachine,
  'eval-run': evalRunMachine,
} as const;

export type MachineName = keyof typeof machines;
