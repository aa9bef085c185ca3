import { cancelled, notWritten } from './run-transitions.ts';
import type { Parking, RunContext, RunTag, WaitsFor } from './run-types.ts';

/** A wait starts with the commit that makes it durable. `tags`: the reason on the wire, and the task state. */
const wait = <const Tags extends readonly RunTag[], const Answered extends object>(
  kind: WaitsFor,
  { tags, description, answered }: { tags: Tags; description: string; answered: Answered },
) =>
  ({
    tags,
    description,
    initial: 'parking',
    states: {
      parking: {
        description: 'The commit that makes the wait durable.',
        on: {
          STEER: { actions: 'steer', description: 'Input that ends the wait as soon as it is durable.' },
          RESUME: { actions: 'resume', description: 'A decision that arrives during the commit.' },
        },
        invoke: {
          src: 'park',
          input: ({ context }: { context: RunContext }): Parking => ({ host: context.host, waits: kind }),
          onDone: [
            {
              guard: 'isAwaited',
              target: '#run.running.deciding',
              description: 'The awaited decision or input arrived during the commit.',
            },
            { target: 'parked', description: 'Durable.' },
          ],
          onError: notWritten('A phase or hook failed.'),
        },
      },
      parked: {
        description: 'The wait is durable and survives a restart.',
        entry: 'reportParked',
        on: {
          RESUME: { target: '#run.running.deciding', description: 'The awaited decision or input arrived.' },
          ANSWER: answered,
        },
      },
    },
  }) as const;

/** The answer is durable, and other work comes first. */
const answered = {
  target: '#run.waiting.answered',
  description: 'The run resumes when it is scheduled.',
} as const;

/** The states in which a run waits, one per kind of wait. */
export const waiting = {
  tags: ['waiting'],
  description: 'The run does not execute. The state names what it waits for.',
  initial: 'forDecision',
  on: {
    CANCEL: cancelled('Cancelled while waiting.'),
    RELEASE: { target: 'released', description: 'The service stops, or other work needs the thread.' },
  },
  states: {
    forDecision: wait('forDecision', {
      tags: ['tool_permission', 'TASK_STATE_AUTH_REQUIRED'],
      description: 'A call waits for a permission or another decision.',
      answered,
    }),
    forInput: wait('forInput', {
      tags: ['user_input', 'TASK_STATE_INPUT_REQUIRED'],
      description: 'The run waits for input: a response, or the result of a client tool.',
      answered,
    }),
    forAuthentication: wait('forAuthentication', {
      tags: ['tool_permission', 'TASK_STATE_AUTH_REQUIRED'],
      description: 'The run waits for a login at the service of a delegate or of the agent.',
      answered,
    }),
    forBudget: wait('forBudget', {
      tags: ['manual_pause', 'TASK_STATE_INPUT_REQUIRED'],
      description:
        'An inference waits for a new window of an exhausted budget, or for a decision to raise it.',
      answered,
    }),
    forTasks: wait('forTasks', {
      tags: ['background_tasks', 'TASK_STATE_WORKING'],
      description: 'The run waits for its background tasks.',
      answered: {
        target: '#run.waiting.notified',
        description: 'The run resumes when it is scheduled.',
      },
    }),
    answered: {
      tags: ['answered', 'TASK_STATE_SUBMITTED'],
      description: 'The awaited decision or input is durable; the run resumes when it is scheduled.',
      on: {
        ANSWER: { target: 'answered', description: 'Another decision or input.' },
        RESUME: { target: '#run.running.deciding', description: 'The run is scheduled.' },
      },
    },
    notified: {
      tags: ['answered', 'background_tasks', 'TASK_STATE_WORKING'],
      description: 'A task event or input is durable; the run resumes when it is scheduled.',
      on: {
        ANSWER: { target: 'notified', description: 'Another task event or input.' },
        RESUME: { target: '#run.running.deciding', description: 'The run is scheduled.' },
      },
    },
  },
} as const;
