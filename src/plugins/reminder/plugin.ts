import { definePlugin } from '../define.ts';
import type { Plugin, ScheduledAction } from '../plugin.ts';
import { compileOutput, compileTool } from './match.ts';
import { type Rule, reminderSection } from './section.ts';

/**
 * Adds messages to the next inference after certain tool results (agent-loop.md 14.2). `builtIn` rules apply to agents
 * without a section.
 */
export const createReminderPlugin = ({ builtIn = [] }: { builtIn?: readonly Rule[] } = {}): Plugin =>
  definePlugin({
    id: 'reminder',
    section: reminderSection,
    create: ({ rules }, { agent }) => {
      const written = agent.sections[reminderSection.key] ? rules : builtIn;
      let reminders: readonly Reminder[] | undefined;
      return {
        hooks: {
          after_tool_execute: ({ call, result }) => {
            // Compiled on first use: all agents are created at startup, and few of them run.
            reminders ??= written.map(compileRule);
            return {
              actions: reminders
                .filter(({ isTool, isOutput }) => isTool(call) && isOutput(result))
                .map(({ action }) => action),
            };
          },
        },
      };
    },
  });

type Reminder = ReturnType<typeof compileRule>;

const compileRule = ({ name, tool, output, message }: Rule, index: number) => {
  const key = `reminder.${name ?? `rule-${index}-${tool}`}`;
  const action: ScheduledAction = { key: 'runtime.add_context_message', payload: { key, ...message } };
  return { action, isTool: compileTool(tool), isOutput: compileOutput(output) };
};
