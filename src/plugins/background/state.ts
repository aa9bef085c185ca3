import { z } from 'zod';
import { defineState } from '../../tools/state.ts';

/** Background tasks and messages as thread state (agent-loop.md 13, 16). Ids continue across runs. */

const StartedTask = z.strictObject({
  task_id: z.string(),
  run_id: z.string(),
  name: z.string().optional(),
  parent: z.string().optional(),
  call_id: z.string().optional(),
  step_index: z.int().optional(),
  started_at: z.int().meta({ description: 'milliseconds since the epoch' }),
});

export const backgroundTasks = defineState({
  key: 'background_tasks',
  scope: 'thread',
  schema: z.strictObject({
    last: z.int().meta({ description: 'number of the newest task' }),
    tasks: z.record(z.string(), StartedTask),
  }),
});

/** Current state of a task. */
const TaskState = z.strictObject({
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  updated_at: z.int(),
  error: z.string().optional(),
});
export type TaskState = z.infer<typeof TaskState>;

export const backgroundTaskState = defineState({
  key: 'background_task_state',
  scope: 'thread',
  schema: z.record(z.string(), TaskState),
});

const OutboxMessage = z.strictObject({
  message_id: z.string(),
  thread_id: z.string(),
  agent_id: z.string(),
  sender_agent_id: z.string(),
  text: z.string(),
  attempts: z.int(),
  last_error: z.string().optional(),
});
export type OutboxMessage = z.infer<typeof OutboxMessage>;

/** Messages to send, oldest first. */
export const messageOutbox = defineState({
  key: 'background_message_outbox',
  scope: 'thread',
  schema: z.array(OutboxMessage),
});

export const failedMessages = defineState({
  key: 'background_failed_durable_messages',
  scope: 'thread',
  schema: z.array(OutboxMessage),
});
