import { definePlugin } from '../define.ts';
import type { Plugin } from '../plugin.ts';
import { backgroundTaskState, backgroundTasks, failedMessages, messageOutbox } from './state.ts';
import { cancelTask, createSendMessage, recoverFailedMessages } from './tools.ts';

/**
 * Work that goes on beside the run that started it, and messages between agents (agent-loop.md 16). Tools of an
 * agent that lists this plugin start tasks with `context.tasks`.
 *
 * Guarantees: a run that answers while its tasks are at work waits for them, and what they tell it wakes the same
 * run; a message that was queued is delivered once, or found in the failed list.
 * Relies on: tasks live in the process. One that a restart has ended is reported to its run as failed.
 * Costs: nothing for a run without tasks; one commit for each event of a task.
 */
export const backgroundTasksPlugin: Plugin = definePlugin({
  id: 'background_tasks',
  state: [backgroundTasks, backgroundTaskState, messageOutbox, failedMessages],
  create: (_, { agent }) => ({
    tools: [cancelTask, createSendMessage(agent.id), recoverFailedMessages],
  }),
});
