import t from 'tap';
import { z } from 'zod';
import { contextMessageId } from '../../../src/plugins/context/placed.ts';
import { createDefaultPlugins, type ModelFacts } from '../../../src/plugins/context/plugin.ts';
import { compactionSettings, retrySettings } from '../../../src/plugins/context/settings.ts';
import type { PluginParts } from '../../../src/plugins/plugin.ts';
import type { AgentSpec } from '../../../src/schema/agent.ts';
import { ContextPolicy } from '../../../src/schema/context-policy.ts';
import { Invalid } from '../../../src/schema/outcome.ts';
import { aboutAgent, hookContext } from '../context.ts';
import { assistant, user } from './history.ts';

const POLICY = ContextPolicy.parse({
  max_context_tokens: 130,
  max_output_tokens: 100,
  min_recent_messages: 0,
  enable_prompt_cache: true,
});

const partsOf = (
  id: string,
  sections: AgentSpec['sections'] = {},
  { model = {}, policy }: { model?: ModelFacts; policy?: ContextPolicy } = {},
): PluginParts => {
  const plugins = createDefaultPlugins({ modelOf: () => model });
  const found = plugins.find((plugin) => plugin.id === id);
  if (!found) throw new Error(`no plugin ${id}`);
  const about = aboutAgent(sections);
  return found.parts({ ...about, agent: { ...about.agent, ...(policy && { context_policy: policy }) } });
};

const messages = [user(10), assistant(10), user(10), assistant(10)];
const request = { system: [], messages, tools: [], overrides: {} };

t.test('leaves a request unchanged without a context policy', async (t) => {
  t.same(partsOf('context_transform'), {});
});

t.test('fits a request to the policy, and marks recurring parts for the cache', async (t) => {
  const context = { ...user(4), id: contextMessageId('k') };
  const { transformRequest } = partsOf('context_transform', {}, { policy: POLICY });
  t.match(transformRequest?.({ ...request, messages: [...messages, context] }, hookContext()), {
    messages: [messages[2], messages[3], context],
    cache: { stable_messages: 2 },
  });
});

t.test('limits the policy to the capabilities of the model, and caching to the policy', async (t) => {
  const { transformRequest } = partsOf(
    'context_transform',
    {},
    {
      policy: { ...POLICY, enable_prompt_cache: false },
      model: { context_window: 120 },
    },
  );
  const fitted = transformRequest?.(request, hookContext());
  t.same(fitted?.messages, messages.slice(2));
  t.notOk(fitted && 'cache' in fitted);
});

t.test("sends today's date and the cutoff to a model with a known cutoff", async (t) => {
  const facts = { model: { knowledge_cutoff: '2024-06' } };
  const now = () => Date.UTC(2025, 10, 21, 23, 59);
  const outcome = await partsOf('knowledge_cutoff_context', {}, facts).hooks?.before_inference?.(
    hookContext({ now }),
  );
  t.match(outcome, {
    actions: [
      {
        key: 'runtime.add_context_message',
        payload: {
          key: 'knowledge_cutoff.context',
          target: 'system',
          priority: -100,
          content: /2025-11-21.*2024-06/,
        },
      },
    ],
  });
  t.same(partsOf('knowledge_cutoff_context'), {}, 'a model without a known cutoff receives neither');
  t.same(partsOf('knowledge_cutoff_context', { knowledge_cutoff_context: { enabled: false } }, facts), {});
});

const illegal: [string, AgentSpec['sections'], RegExp][] = [
  [
    'context_transform',
    { context_transform: { artifact_compaction: { threshold_tokens: 0 } } },
    /threshold_tokens/,
  ],
  ['knowledge_cutoff_context', { knowledge_cutoff_context: { enabled: 1 } }, /enabled/],
  ['retry', { retry: {} }, /max_retries/],
  ['retry', { retry: { max_retries: 1, more: 1 } }, /more/],
  ['compaction', { compaction: { mode: 'off' } }, /summarizer_system_prompt.*summarizer_user_prompt.*ratio/],
  [
    'compaction',
    {
      compaction: {
        mode: 'sometimes',
        summarizer_system_prompt: 's',
        summarizer_user_prompt: 'u',
        min_savings_ratio: 0.3,
      },
    },
    /mode/,
  ],
];
for (const [key, sections, reason] of illegal) {
  t.test(`rejects the section ${JSON.stringify(sections)}`, async (t) => {
    t.throws(() => partsOf(key, sections), Invalid);
    t.throws(() => partsOf(key, sections), {
      message: new RegExp(`^invalid config for plugin ${key}: section "${key}" — `),
    });
    t.throws(() => partsOf(key, sections), { message: reason });
  });
}

t.test('fills the defaults of sections', async (t) => {
  t.same(retrySettings({ sections: {} }), {
    max_retries: 2,
    backoff_base_ms: 500,
    overloaded_backoff_base_ms: 2000,
    max_stream_retries: 2,
    stream_idle_timeout_secs: 60,
  });
  t.match(retrySettings({ sections: { retry: { max_retries: 0 } } }), {
    max_retries: 0,
    backoff_base_ms: 500,
  });
  t.match(compactionSettings({ sections: {} }), {
    mode: 'background',
    summary_max_tokens: 1024,
    min_savings_ratio: 0.3,
    raw_retention: 'preserve_durable',
  });
});

t.test('provides a JSON Schema and valid defaults for every section', async (t) => {
  for (const { sections } of createDefaultPlugins({ modelOf: () => ({}) })) {
    for (const { key, schema, default_value } of sections) {
      t.match(z.toJSONSchema(schema, { io: 'input' }), { type: 'object' }, key);
      if (default_value !== undefined) t.same(schema.parse(default_value), default_value, key);
    }
  }
});
