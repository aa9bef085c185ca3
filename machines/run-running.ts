import {
  asReturned,
  because,
  begins,
  blocked,
  cancel,
  checkpointed,
  deadLetter,
  decided,
  failed,
  found,
  inferred,
  interactionWaits,
  invoked,
  naturally,
  type Reclaimed,
  storeFailed,
} from './run-transitions.ts';

/** The states in which a worker executes a run. */
export const running = {
  tags: ['running', 'TASK_STATE_WORKING'],
  description: 'A worker executes the run. Steered input is consumed at the next step boundary.',
  initial: 'inferring',
  on: {
    STEER: { actions: 'steer', description: 'New input for the next step.' },
    RESUME: { actions: 'resume', description: 'A call is decided while others still execute.' },
    CANCEL: {
      target: 'concluding',
      actions: cancel,
      description: 'Cancelled: model and tool calls are aborted, partial text is dropped.',
    },
    DEAD_LETTER: deadLetter('The lease expired too often, or the agent was removed.'),
    RELEASE: { target: 'released', description: 'The service stops, or the lease is lost.' },
  },
  states: {
    deciding: {
      description: 'Applies decisions to suspended calls; new input supersedes the ones left open.',
      entry: 'takeDecisions',
      invoke: {
        ...invoked('decide'),
        onDone: [
          blocked,
          {
            guard: { type: 'isStopped', ...decided },
            target: '#run.concluding',
            actions: asReturned,
            description: 'The decision refuses to raise an exhausted budget.',
          },
          {
            guard: { type: 'isSuspendedNoMore', ...found },
            target: 'deciding',
            reenter: true,
            description: 'Another decision or input arrived during processing.',
          },
          ...interactionWaits('Another call'),
          {
            guard: 'isSteered',
            target: 'checkpointing',
            actions: 'settleDecisions',
            description: 'New input arrived during processing.',
          },
          { target: 'inferring', actions: 'settleDecisions', description: 'Every ticket is resolved.' },
        ],
        onError: storeFailed('The decisions could not be applied.'),
      },
    },
    inferring: {
      description: 'One inference: the prompt is sent and deltas are streamed to the readers.',
      invoke: {
        ...invoked('infer'),
        onDone: [
          {
            guard: { type: 'isStopped', ...inferred },
            target: '#run.concluding',
            actions: asReturned,
            description: 'A stop condition holds, or a plugin ends the run.',
          },
          {
            guard: { type: 'asksForTools', ...inferred },
            target: 'acting',
            description: 'The model requests tool calls.',
          },
          {
            guard: { type: 'isTruncated', ...inferred },
            target: 'checkpointing',
            description: 'The completion was truncated and continues in another step.',
          },
          { guard: 'isSteered', target: 'checkpointing', description: 'New input: one more step.' },
          {
            guard: { type: 'hasPendingWork', ...found },
            target: '#run.waiting.forTasks',
            description: 'Background tasks are still executing.',
          },
          ...interactionWaits('The inference'),
          {
            guard: 'mustValidate',
            target: 'validating',
            description: 'The completion is final, and the run requires a structured result.',
          },
          {
            guard: 'mustConclude',
            target: '#run.concluding',
            actions: naturally,
            description: 'The completion has no tool calls.',
          },
          {
            target: '#run.ending',
            actions: naturally,
            description: 'The completion is final, and no hooks or messages are pending.',
          },
        ],
        onError: [
          {
            guard: { type: 'isHeldBack', ...because },
            target: 'retrying',
            actions: { type: 'holdBack', ...because },
            description: 'The circuit of the model is open; the run waits, and no attempt is counted.',
          },
          ...failed(
            'Transient failure with attempts left.',
            'Permanent failure, or the attempts are used up.',
          ),
        ],
      },
    },
    acting: {
      description: 'Gates and executes the tool calls of the step.',
      invoke: {
        ...invoked('act'),
        onDone: [
          blocked,
          {
            guard: { type: 'isSuspendedNoMore', ...found },
            target: 'deciding',
            description: 'A call was suspended and its decision has already arrived.',
          },
          ...interactionWaits('A call'),
          {
            guard: { type: 'hasPendingWork', ...found },
            target: '#run.waiting.forTasks',
            description: 'The completion has the result and the calls; background tasks are still executing.',
          },
          {
            guard: { type: 'hasAnswered', ...found },
            target: 'validating',
            description: 'Every call succeeded, and the completion has the result.',
          },
          { target: 'checkpointing', description: 'Every call has a result.' },
        ],
        onError: storeFailed('A phase or hook failed.'),
      },
    },
    checkpointing: {
      description: 'Step boundary: one commit, and input for this run joins the history.',
      entry: 'takeInput',
      invoke: {
        ...invoked('checkpoint'),
        onDone: [
          {
            guard: 'isSteered',
            target: 'checkpointing',
            reenter: true,
            description: 'More input arrived during the commit.',
          },
          {
            guard: { type: 'isOverButWaits', ...checkpointed },
            target: '#run.waiting.forTasks',
            description: 'The completion is final; background tasks are still executing.',
          },
          {
            guard: { type: 'isUnchecked', ...checkpointed },
            target: 'validating',
            description: 'The expected input was withdrawn, and the response is not validated yet.',
          },
          {
            guard: { type: 'isOver', ...checkpointed },
            target: '#run.concluding',
            actions: naturally,
            description: 'The completion is final, and no pending input belongs to this run.',
          },
          { target: 'inferring', description: 'The next step.' },
        ],
        onError: storeFailed('A phase or hook failed.'),
      },
    },
    validating: {
      description:
        'Validates the response against the schema of the run. Runs without a schema skip this state.',
      invoke: {
        ...invoked('validate'),
        onDone: [
          { guard: 'isSteered', target: 'checkpointing', description: 'New input: one more step.' },
          {
            guard: { type: 'mustRepair', ...found },
            target: 'checkpointing',
            description: 'The response is invalid; the model receives the error and responds again.',
          },
          {
            guard: { type: 'isExhausted', ...found },
            target: '#run.concluding',
            actions: asReturned,
            description: 'The response is invalid, and no repair attempt is left.',
          },
          { target: '#run.concluding', actions: naturally, description: 'The response is valid.' },
        ],
        onError: storeFailed('The schema is invalid.'),
      },
    },
    retrying: {
      description: 'A transient failure is retried from the last commit; open streams stay open.',
      initial: 'rescheduling',
      states: {
        rescheduling: {
          description: 'Drops the step and requeues the dispatch with a delay.',
          invoke: {
            ...invoked('reschedule'),
            onDone: { target: 'pausing', description: 'Queued again.' },
            onError: {
              target: '#run.released',
              description: 'The store rejected the commit; the lease will expire.',
            },
          },
        },
        pausing: {
          description: 'Back-off.',
          after: { retryDelay: { target: 'reclaiming', description: 'The delay elapsed.' } },
        },
        reclaiming: {
          description: 'Claims the dispatch again.',
          invoke: {
            ...invoked('reclaim'),
            onDone: begins(({ event }: Reclaimed) => event.output),
            onError: { target: '#run.released', description: 'Another worker claimed the dispatch.' },
          },
        },
      },
    },
  },
} as const;
