import { definePlugin } from '../define.ts';
import type { Plugin } from '../plugin.ts';
import { backgroundTaskState, backgroundTasks, failedMessages, messageOutbox } from './state.ts';
import { cancelTask, createSendMessage, recoverFailedMessages } from './tools.ts';

/**
 * Background tasks of a run, and messages between agents (agent-loop.md 16). Tools of an agent that lists this plugin
 * start tasks with `context.tasks`.
 *
 * Guarantees: a run that completes while its tasks are running waits for them, and their events wake the same run; a
 * queued message is delivered once or ends up in the failed list.
 * Relies on: tasks live in the process. A task that is interrupted by a restart is reported to its run as failed.
 * Costs: nothing for a run without tasks; one commit per event of a task.
 */
export const backgroundTasksPlugin: Plugin = definePlugin({
  id: 'background_tasks',
  state: [backgroundTasks, backgroundTaskState, messageOutbox, failedMessages],
  create: (_, { agent }) => ({
    tools: [cancelTask, createSendMessage(agent.id), recoverFailedMessages],
  }),
});
