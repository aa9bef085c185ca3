import t from 'tap';
import { agentJson, parseAgent } from '../../src/schema/agent-json.ts';
import { ModelSpec } from '../../src/schema/model.ts';
import { parseEntry } from '../../src/schema/problems.ts';
import { DEEPEST_OPTION, MOST_OPTION_BYTES } from '../../src/schema/provider-options.ts';

/** Settings of model calls on agents and models: which values are accepted. */

const SETTINGS = {
  temperature: 0.5,
  top_p: 1,
  max_tokens: 100,
  stop: ['END'],
  seed: -7,
  tool_choice: { tool: 'search' },
  parallel_tool_calls: false,
  verbosity: 'low',
  service_tier: 'flex',
  reasoning_effort: 'high',
  provider_options: { anthropic: { top_k: 5 }, gemini: { generationConfig: { candidateCount: 1 } } },
};

const agent = (settings: object) => parseAgent({ id: 'a', model_id: 'm', ...settings });
const model = (settings: object) =>
  parseEntry('model spec', ModelSpec, { id: 'm', provider_id: 'p', upstream_model: 'u', ...settings });

t.test('keeps every setting of agents and models', async (t) => {
  t.match(agentJson(agent(SETTINGS)), SETTINGS);
  t.match(model(SETTINGS), SETTINGS);
  t.strictSame(parseAgent(agentJson(agent(SETTINGS))), agent(SETTINGS), 'parsing again changes nothing');
});

t.test('accepts a single stop sequence as a string, and a number as a reasoning budget', async (t) => {
  t.match(agent({ stop: 'END', reasoning_effort: 5 }), { stop: ['END'], reasoning_effort: { budget: 5 } });
});

t.test('treats null as unset', async (t) => {
  const nulls = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, null]));
  t.strictSame(agentJson(agent(nulls)), agentJson(agent({})));
});

const nested = (levels: number): object => (levels === 0 ? {} : { inner: nested(levels - 1) });
const circular: Record<string, unknown> = {};
circular.self = circular;

const REFUSED: [settings: object, problem: string][] = [
  [{ temperature: 2.1 }, "field 'temperature': must be at most 2"],
  [{ temperature: -0.1 }, "field 'temperature': must be at least 0"],
  [{ temperature: 'hot' }, "field 'temperature': must be a number, not a string"],
  [{ top_p: 1.5 }, "field 'top_p': must be at most 1"],
  [{ max_tokens: 0 }, "field 'max_tokens': must be at least 1"],
  [{ stop: [] }, "field 'stop': must have at least 1 items"],
  [{ stop: [''] }, "field 'stop[0]': must have at least 1 characters"],
  [{ stop: Array.from({ length: 17 }, String) }, "field 'stop': must have at most 16 items, not 17"],
  [{ stop: ['x'.repeat(257)] }, "field 'stop[0]': must have at most 256 characters"],
  [{ seed: 1.5 }, "field 'seed': must be an integer, not a fraction"],
  [{ tool_choice: 'all' }, "field 'tool_choice': must be one of 'auto', 'none', 'required'"],
  [{ tool_choice: { tool: '' } }, "field 'tool_choice.tool': must have at least 1 characters"],
  [{ parallel_tool_calls: 'no' }, "field 'parallel_tool_calls': must be true or false, not a string"],
  [{ verbosity: 'max' }, "field 'verbosity': must be one of 'low', 'medium', 'high'"],
  [{ service_tier: 'A b' }, "field 'service_tier': must be a name such as 'auto', 'flex' or 'priority'"],
  [{ provider_options: [] }, "field 'provider_options': must be an object, not an array"],
  [{ provider_options: { openai: 5 } }, 'provider_options.openai must be an object of request fields'],
  [
    { provider_options: { openai: { model: 'other' } } },
    'provider_options.openai.model cannot be set: it is set by the model entry',
  ],
  [
    { provider_options: { anthropic: { messages: [] } } },
    'provider_options.anthropic.messages cannot be set: it carries the conversation',
  ],
  [
    { provider_options: { gemini: { system_Instruction: {} } } },
    'provider_options.gemini.system_Instruction cannot be set: it carries the conversation',
  ],
  [
    { provider_options: { p: { tools: [] } } },
    'provider_options.p.tools cannot be set: it is set by the tools of the agent',
  ],
  [
    { provider_options: { p: { stream: false } } },
    'provider_options.p.stream cannot be set: it is set by the service',
  ],
  [
    { provider_options: { p: { 'Api-Key': 'x' } } },
    'provider_options.p.Api-Key cannot be set: it carries credentials or an address: set them at the provider',
  ],
  [
    { provider_options: { p: { text: 'x'.repeat(MOST_OPTION_BYTES) } } },
    `provider_options must have at most ${MOST_OPTION_BYTES} bytes as JSON (got ${MOST_OPTION_BYTES + 17})`,
  ],
  [
    { provider_options: { p: nested(DEEPEST_OPTION) } },
    `provider_options must nest at most ${DEEPEST_OPTION} levels deep`,
  ],
  [{ provider_options: { p: circular } }, `provider_options must nest at most ${DEEPEST_OPTION} levels deep`],
  [{ provider_options: { p: { f: () => 1 } } }, 'provider_options.p.f must be JSON, not function'],
  [{ provider_options: { p: { n: Number.NaN } } }, 'provider_options.p.n must be a finite number'],
  [
    { provider_options: { p: { d: new Date(0) } } },
    'provider_options.p.d must be JSON, not an instance of a class',
  ],
  [
    { provider_options: { p: JSON.parse('{"__proto__":{}}') } },
    "provider_options.p must not have a field '__proto__'",
  ],
];
for (const [settings, problem] of REFUSED) {
  t.test(`rejects ${Object.keys(settings).join()}: ${problem.slice(0, 60)}`, async (t) => {
    t.throws(() => agent(settings), { message: `invalid agent spec: ${problem}` });
    t.throws(() => model(settings), { message: `invalid model spec: ${problem}` });
  });
}

t.test('accepts provider options up to their limits', async (t) => {
  const text = 'x'.repeat(MOST_OPTION_BYTES - 17);
  t.doesNotThrow(() => agent({ provider_options: { p: { text } } }));
  t.doesNotThrow(() => agent({ provider_options: { p: nested(DEEPEST_OPTION - 2) } }));
});

t.test('limits max_tokens of a model to its max_output_tokens', async (t) => {
  t.throws(() => model({ max_output_tokens: 10, max_tokens: 11 }), {
    message: 'invalid model spec: max_tokens (11) must not exceed max_output_tokens (10)',
  });
});
