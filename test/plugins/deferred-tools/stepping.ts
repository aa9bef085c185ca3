import { deferredToolsPlugin } from '../../../src/plugins/deferred-tools/plugin.ts';
import type { ContextMessage, ScheduledAction } from '../../../src/plugins/plugin.ts';
import type { ToolDescriptor } from '../../../src/schema/tool-descriptor.ts';
import type { Json, ToolOutput } from '../../../src/tools/tool.ts';
import { quietContext } from '../../tools/call.ts';
import { aboutAgent, hookContext, stateStore } from '../context.ts';

/** A tool whose schema is `size` characters of JSON. */
export const describeTool = (id: string, size = 400, description = `Does ${id}.`): ToolDescriptor => ({
  id,
  name: id,
  description,
  parameters: { x: 'a'.repeat(size - '{"x":""}'.length) },
  category: null,
});

/** Takes the plugin through steps like the loop: actions in order, each with the changes before it. */
export const stepThrough = (section: Json, tools: readonly ToolDescriptor[]) => {
  const parts = deferredToolsPlugin.parts(aboutAgent({ deferred_tools: section }, tools));
  const state = stateStore();
  const context = hookContext({ state: state.view, tools: () => tools });
  const pending: ScheduledAction[] = [];

  /** The tools that the next request hides, and its messages. */
  const request = async (): Promise<{ hidden: string[]; messages: ContextMessage[] }> => {
    const hidden: string[] = [];
    const messages: ContextMessage[] = [];
    const queue = [
      ...pending.splice(0),
      ...((await parts.hooks?.before_inference?.(context))?.actions ?? []),
    ];
    for (let action = queue.shift(); action; action = queue.shift()) {
      const { key, payload } = action;
      // The keys of the loop define their payloads.
      if (key === 'runtime.exclude_tool') hidden.push(payload as string);
      else if (key === 'runtime.add_context_message') messages.push(payload as ContextMessage);
      else {
        const outcome = await parts.actions?.[key]?.(payload as Json, context);
        state.apply(outcome?.state);
        queue.push(...(outcome?.actions ?? []));
      }
    }
    return { hidden, messages };
  };

  /** A completion with calls of these tools. */
  const answer = async (...names: string[]): Promise<void> => {
    const calls = names.map((name, index) => ({ id: `c${index}`, name, arguments: {} }));
    const inference = { text: '', calls, usage: undefined, model: 'm' };
    state.apply((await parts.hooks?.after_inference?.({ ...context, inference }))?.state);
  };

  /** Calls `ToolSearch`; its actions apply before the next request. */
  const search = async (args: Json): Promise<ToolOutput['data']> => {
    const output = await parts.tools?.[0]?.execute(args, quietContext({ state: state.view }));
    if (!output || 'suspend' in output) throw new Error('ToolSearch gave no output');
    // Tools schedule under the same keys as hooks.
    pending.push(...((output.actions ?? []) as ScheduledAction[]));
    return output.data;
  };

  const schedule = (action: ScheduledAction): void => {
    pending.push(action);
  };

  return { parts, state: state.view, request, answer, search, schedule };
};
