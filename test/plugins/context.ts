import type { HookContext, PluginAbout } from '../../src/plugins/plugin.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import type { ToolDescriptor } from '../../src/schema/tool-descriptor.ts';
import type { StateKey, StateUpdate, StateView } from '../../src/tools/state.ts';

/** The input of a plugin for an agent with these sections. */
export const aboutAgent = (
  sections: AgentSpec['sections'] = {},
  tools: readonly ToolDescriptor[] = [],
): PluginAbout => ({ agent: AgentSpec.parse({ id: 'a1', sections }), tools });

/** State as the loop keeps it: updates are validated by the schema of their key and replace the value. */
export const stateStore = (): { view: StateView; apply(updates?: readonly StateUpdate[]): void } => {
  const values = new Map<string, unknown>();
  return {
    view: {
      get: <Value>(key: StateKey<Value>) => {
        const value = values.get(key.key);
        return value === undefined ? undefined : key.schema.parse(value);
      },
    },
    apply: (updates = []) => {
      for (const { key, value } of updates) {
        if (value === undefined) values.delete(key.key);
        else values.set(key.key, key.schema.parse(JSON.parse(JSON.stringify(value))));
      }
    },
  };
};

/** A context of the first step of run `r1`, without state, tools or messages. */
export const hookContext = (overrides: Partial<HookContext> = {}): HookContext => ({
  run_id: 'r1',
  thread_id: 't1',
  agent: AgentSpec.parse({ id: 'a1' }),
  step_index: 0,
  state: { get: () => undefined },
  signal: new AbortController().signal,
  now: () => 10_999,
  tools: () => [],
  messages: () => [],
  ...overrides,
});
