/** The catalogue of every statechart of the service: what visualisers, documentation and tests read. */
import { circuitBreakerMachine } from './circuit-breaker.ts';
import { dispatchMachine } from './dispatch.ts';
import { pushDeliveryMachine } from './push-delivery.ts';
import { remoteTaskMachine } from './remote-task.ts';
import { runMachine } from './run.ts';
import { threadMachine } from './thread.ts';
import { toolCallMachine } from './tool-call.ts';

export {
  circuitBreakerMachine,
  dispatchMachine,
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
  'remote-task': remoteTaskMachine,
} as const;

export type MachineName = keyof typeof machines;
