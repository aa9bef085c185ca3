import t from 'tap';
import { COMPATIBLE_CHAT, OPENAI_CHAT } from '../../../src/models/chat-options.ts';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { fitSettings } from '../../../src/models/settings/rules.ts';
import { encodeMessages } from '../../../src/models/wire/anthropic-encode.ts';
import { encodeConverse } from '../../../src/models/wire/bedrock-encode.ts';
import { encodeGemini } from '../../../src/models/wire/gemini-encode.ts';
import { encodeChat } from '../../../src/models/wire/openai-chat-encode.ts';
import { encodeResponses } from '../../../src/models/wire/openai-responses-encode.ts';
import type { WireCall, WireRequest } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { requestOf } from '../infer.ts';
import { refusalsOf } from './strict-anthropic.ts';
import { refusalOfGemini } from './strict-gemini.ts';
import { problemsOfChat } from './strict-openai-chat.ts';
import { rejectionOf } from './strict-openai-responses.ts';

/** Settings of a call in each wire format: the sent values, and the omitted ones with their reasons. */

const SEARCH = {
  id: 'search',
  name: 'search',
  description: 'Finds.',
  category: null,
  parameters: { type: 'object' },
};

type Overrides = InferenceRequest['overrides'];

const callOf = (upstream: string, adapter: string, overrides: Overrides, tools = [SEARCH]): WireCall => ({
  upstream,
  provider: 'p',
  adapter,
  spec: {},
  request: requestOf('x', { overrides, tools }),
  pauses: [],
});

const ENCODERS: Record<string, (call: WireCall) => WireRequest> = {
  openai: (call) => encodeChat(call, OPENAI_CHAT),
  openai_resp: encodeResponses,
  anthropic: encodeMessages,
  bedrock: encodeConverse,
  gemini: (call) => encodeGemini(call, { platform: 'gemini' }),
  vertex: (call) => encodeGemini(call, { platform: 'vertex' }),
};

const encode = (call: WireCall): WireRequest =>
  (ENCODERS[call.adapter ?? ''] ?? ((other: WireCall) => encodeChat(other, COMPATIBLE_CHAT)))(call);

const ALL: Overrides = {
  temperature: 0.5,
  top_p: 0.9,
  max_tokens: 50,
  stop: ['END'],
  seed: 7,
  parallel_tool_calls: false,
  verbosity: 'low',
  service_tier: 'auto',
};

/** Fields that correspond to no setting. */
const REST = new Set([
  'model',
  'messages',
  'input',
  'contents',
  'tools',
  'toolConfig',
  'stream',
  'stream_options',
  'store',
  'include',
]);

const settingsOf = ({ body }: WireRequest): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !REST.has(name)));

const leftOut = ({ sent }: WireRequest): string[] =>
  (sent?.adjusted ?? []).map(({ setting, sent: value }) =>
    value === null ? setting : `${setting}=${value}`,
  );

const CASES: [upstream: string, adapter: string, overrides: Overrides, sent: JsonObject, left: string[]][] = [
  [
    'gpt-4o',
    'openai',
    ALL,
    {
      max_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      stop: ['END'],
      seed: 7,
      parallel_tool_calls: false,
      service_tier: 'auto',
    },
    ['verbosity'],
  ],
  [
    'gpt-5',
    'openai',
    ALL,
    {
      max_completion_tokens: 50,
      seed: 7,
      parallel_tool_calls: false,
      verbosity: 'low',
      service_tier: 'auto',
    },
    ['temperature', 'top_p', 'stop'],
  ],
  [
    'o3',
    'openai',
    { ...ALL, service_tier: 'flex' },
    { max_completion_tokens: 50, seed: 7, service_tier: 'flex' },
    ['temperature', 'top_p', 'stop', 'parallel_tool_calls', 'verbosity'],
  ],
  ['gpt-4o', 'openai', { service_tier: 'flex' }, {}, ['service_tier']],
  ['gpt-5-nano', 'openai', { service_tier: 'priority' }, {}, ['service_tier']],
  ['gpt-5-codex', 'openai', { verbosity: 'low' }, {}, ['verbosity']],
  ['gpt-4o', 'openai', { stop: ['a', 'b', 'c', 'd', 'e'] }, { stop: ['a', 'b', 'c', 'd'] }, ['stop=a,b,c,d']],
  [
    'gpt-5',
    'openai',
    { reasoning_effort: 'none', parallel_tool_calls: true },
    { reasoning_effort: 'minimal' },
    ['parallel_tool_calls', 'reasoning_effort=minimal'],
  ],
  [
    'gpt-5.1',
    'openai_resp',
    ALL,
    { max_output_tokens: 50, parallel_tool_calls: false, text: { verbosity: 'low' }, service_tier: 'auto' },
    ['temperature', 'top_p', 'stop', 'seed'],
  ],
  [
    'gpt-4o',
    'openai_resp',
    { ...ALL, reasoning_effort: 'low' },
    { max_output_tokens: 50, temperature: 0.5, top_p: 0.9, parallel_tool_calls: false, service_tier: 'auto' },
    ['reasoning_effort', 'stop', 'seed', 'verbosity'],
  ],
  [
    'claude-sonnet-4-5',
    'anthropic',
    { ...ALL, stop: ['END', ' '] },
    {
      max_tokens: 50,
      temperature: 0.5,
      stop_sequences: ['END'],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      service_tier: 'auto',
    },
    ['top_p', 'stop=END', 'seed', 'verbosity'],
  ],
  [
    'claude-sonnet-4-5',
    'anthropic',
    { temperature: 2, max_tokens: 9 },
    { temperature: 1, max_tokens: 9 },
    ['temperature=1'],
  ],
  [
    'claude-sonnet-4-5',
    'anthropic',
    { temperature: 0.5, max_tokens: 9, reasoning_effort: 'low' },
    { max_tokens: 1033, thinking: { type: 'enabled', budget_tokens: 1024 } },
    ['temperature'],
  ],
  [
    'claude-3-haiku-20240307',
    'anthropic',
    { max_tokens: 9, reasoning_effort: 'high' },
    { max_tokens: 9 },
    ['reasoning_effort'],
  ],
  [
    'claude-sonnet-4-5',
    'anthropic',
    { max_tokens: 9, service_tier: 'flex' },
    { max_tokens: 9 },
    ['service_tier'],
  ],
  [
    'gemini-2.5-flash',
    'gemini',
    { ...ALL, service_tier: 'flex' },
    {
      generationConfig: { maxOutputTokens: 50, temperature: 0.5, topP: 0.9, stopSequences: ['END'], seed: 7 },
      serviceTier: 'flex',
    },
    ['parallel_tool_calls', 'verbosity'],
  ],
  [
    'gemini-2.5-flash',
    'vertex',
    { service_tier: 'flex', seed: 2 ** 31 },
    { generationConfig: {} },
    ['seed', 'service_tier'],
  ],
  ['gemini-2.0-flash', 'gemini', { reasoning_effort: 'low' }, { generationConfig: {} }, ['reasoning_effort']],
  [
    'gemini-2.5-flash',
    'gemini',
    { stop: ['1', '2', '3', '4', '5', '6'] },
    { generationConfig: { stopSequences: ['1', '2', '3', '4', '5'] } },
    ['stop=1,2,3,4,5'],
  ],
  [
    'grok-4',
    'xai',
    { stop: ['a'], reasoning_effort: 'low', seed: 1 },
    { seed: 1 },
    ['reasoning_effort', 'stop'],
  ],
  ['grok-3-mini', 'xai', { reasoning_effort: 'medium' }, { reasoning_effort: 'high' }, []],
  ['grok-4.3', 'xai', { reasoning_effort: 'max' }, { reasoning_effort: 'high' }, []],
  [
    'command-a',
    'cohere',
    { parallel_tool_calls: true, service_tier: 'auto' },
    {},
    ['parallel_tool_calls', 'service_tier'],
  ],
  ['llama', 'groq', { service_tier: 'on_demand' }, { service_tier: 'on_demand' }, []],
  [
    'meta.llama4-scout-17b-instruct-v1:0',
    'bedrock',
    { reasoning_effort: 'low', parallel_tool_calls: false },
    {},
    ['reasoning_effort', 'parallel_tool_calls'],
  ],
  [
    'openai.gpt-oss-120b-1:0',
    'bedrock',
    { reasoning_effort: 'max', service_tier: 'flex' },
    { additionalModelRequestFields: { reasoning_effort: 'high' }, serviceTier: { type: 'flex' } },
    [],
  ],
];
for (const [upstream, adapter, overrides, sent, left] of CASES) {
  t.test(
    `${adapter} ${upstream} receives the accepted settings of ${JSON.stringify(overrides)}`,
    async (t) => {
      const request = encode(callOf(upstream, adapter, overrides));
      t.strictSame(settingsOf(request), sent);
      t.strictSame(leftOut(request), left);
      if (adapter === 'openai') {
        const reasons = /^(o\d|gpt-5)/.test(upstream);
        t.strictSame(problemsOfChat(request.body, { reasons, upstream }), []);
      }
      if (adapter === 'openai_resp') t.equal(rejectionOf(request.body), undefined);
      if (adapter === 'anthropic') t.strictSame(refusalsOf(request), []);
      if (adapter === 'gemini' || adapter === 'vertex') t.equal(refusalOfGemini(request, adapter), undefined);
    },
  );
}

t.test('omits tool settings from a request without tools', async (t) => {
  const overrides: Overrides = { parallel_tool_calls: false, tool_choice: 'required' };
  for (const [upstream, adapter] of [
    ['gpt-4o', 'openai'],
    ['gpt-4o', 'openai_resp'],
    ['claude-sonnet-4-5', 'anthropic'],
  ] as const) {
    const request = encode(callOf(upstream, adapter, overrides, []));
    t.equal(request.body.parallel_tool_calls, undefined, adapter);
    t.equal(request.body.tool_choice, undefined, adapter);
    t.strictSame(leftOut(request), ['tool_choice', 'parallel_tool_calls'], adapter);
  }
});

t.test('reports a tool that the request does not offer', async (t) => {
  t.match(leftOut(encode(callOf('gpt-4o', 'openai', { tool_choice: { tool: 'absent' } }))), ['tool_choice']);
});

t.test('restricts parallel calls together with a tool choice of Claude', async (t) => {
  const call = callOf('claude-sonnet-4-5', 'anthropic', { parallel_tool_calls: false });
  const required = encodeMessages({ ...call, request: { ...call.request, toolChoice: 'required' } });
  t.strictSame(required.body.tool_choice, { type: 'any', disable_parallel_tool_use: true });
  const none = encodeMessages({ ...call, request: { ...call.request, toolChoice: 'none' } });
  t.strictSame(none.body.tool_choice, { type: 'none' });
});

t.test('limits max_tokens to the limit of the model', async (t) => {
  const call = callOf('gpt-4o', 'openai', { max_tokens: 100 });
  const request = encodeChat({ ...call, spec: { max_output_tokens: 40 } }, OPENAI_CHAT);
  t.equal(request.body.max_tokens, 40);
  t.strictSame(request.sent?.settings, { max_tokens: 40 });
  t.strictSame(leftOut(request), ['max_tokens=40']);
});

t.test('reports a setting as it is sent', async (t) => {
  const effort = (upstream: string, adapter: string): unknown =>
    encode(callOf(upstream, adapter, { reasoning_effort: 'max' })).sent?.settings.reasoning_effort;
  t.equal(effort('openai.gpt-oss-120b-1:0', 'bedrock'), 'high');
  t.equal(effort('meta.llama4-scout-17b-instruct-v1:0', 'bedrock'), undefined);
  t.equal(effort('gpt-5', 'openai'), 'high');
});

t.test('reports the reason for an adjusted setting', async (t) => {
  const about = { format: 'openai-chat', upstream: 'o3' } as const;
  t.strictSame(fitSettings({ temperature: 1, top_p: null }, about), {
    settings: {},
    adjusted: [
      { setting: 'temperature', sent: null, reason: 'the model accepts no temperature while it reasons' },
    ],
  });
});
