import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import t from 'tap';
import type { AdapterRow } from '../../../src/models/adapter-row.ts';
import { ADAPTERS } from '../../../src/models/adapters.ts';
import { OPENAI_CHAT } from '../../../src/models/chat-options.ts';
import { isClosedSchema, isStrictSchema } from '../../../src/models/output-schema.ts';
import { anthropicWire } from '../../../src/models/wire/anthropic.ts';
import { geminiWire } from '../../../src/models/wire/gemini.ts';
import { openaiChatWire } from '../../../src/models/wire/openai-chat.ts';
import { mistralWire } from '../../../src/models/wire/openai-chat-mistral.ts';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import type { Wire, WireRequest } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { requestOf } from '../infer.ts';
import { callOf } from './decode.ts';
import { refusalsOf } from './strict-anthropic.ts';
import { refusalOfGemini } from './strict-gemini.ts';
import { problemsOfMistral } from './strict-mistral.ts';
import { problemsOfChat } from './strict-openai-chat.ts';
import { rejectionOf } from './strict-openai-responses.ts';

/** The schema of a completion in the field of each provider. */

const STRICT: JsonObject = {
  type: 'object',
  properties: { a: { type: 'string' }, b: { anyOf: [{ type: 'number' }, { type: 'null' }] } },
  required: ['a', 'b'],
  additionalProperties: false,
};
const LOOSE: JsonObject = { type: 'object', properties: { a: { type: 'string', minLength: 2 } } };

/** The reason for which the service of each format rejects a request. */
const REJECTS: Readonly<Record<string, (sent: WireRequest) => string | undefined>> = {
  'openai-chat': ({ body }) => problemsOfChat(body)[0],
  mistral: ({ body }) => problemsOfMistral(body)[0],
  'openai-responses': ({ body }) => rejectionOf(body),
  gemini: (sent) => refusalOfGemini(sent, 'gemini'),
  anthropic: (sent) => refusalsOf(sent)[0],
};

const bodyOf = (wire: Wire, upstream: string, schema: JsonObject, overrides = {}): JsonObject => {
  const output = { name: 'answer', schema, strict: true };
  const sent = wire.encode(callOf({ upstream, request: requestOf('Hi', { output, overrides }) }));
  const name = upstream.startsWith('mistral') ? 'mistral' : wire.format;
  const problem = REJECTS[name]?.(sent);
  if (problem !== undefined) throw new Error(`${problem}: ${JSON.stringify(sent.body)}`);
  return JSON.parse(JSON.stringify(sent.body));
};

const FORMATS: [
  name: string,
  wire: Wire,
  upstream: string,
  sent: (schema: JsonObject, strict: boolean) => object,
][] = [
  [
    'openai-chat',
    openaiChatWire(OPENAI_CHAT),
    'gpt-4o',
    (schema, strict) => ({
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict } },
    }),
  ],
  [
    'mistral',
    mistralWire(),
    'mistral-large-latest',
    (schema, strict) => ({
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict } },
    }),
  ],
  [
    'openai-responses',
    openaiResponsesWire(),
    'gpt-5',
    (schema, strict) => ({ text: { format: { type: 'json_schema', name: 'answer', schema, strict } } }),
  ],
  [
    'gemini',
    geminiWire({ platform: 'gemini' }),
    'gemini-3-pro',
    (schema) => ({ generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } }),
  ],
];

for (const [name, wire, upstream, sent] of FORMATS) {
  t.test(`${name} sends the schema, strict if the service can enforce it`, async (t) => {
    t.match(bodyOf(wire, upstream, STRICT), sent(STRICT, true));
    t.match(bodyOf(wire, upstream, LOOSE), sent(LOOSE, false));
    const body = wire.encode(callOf({ upstream, request: requestOf('Hi') })).body;
    t.notMatch(JSON.stringify(body), /response_format|"text":\{"format|responseJsonSchema/);
  });

  t.test(`${name} omits keywords that the service may not support`, async (t) => {
    const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...STRICT, 'x-order': ['a'] };
    t.match(bodyOf(wire, upstream, schema), sent(STRICT, true));
    t.notMatch(JSON.stringify(bodyOf(wire, upstream, schema)), /x-order|\$schema/);
  });
}

t.test('anthropic sends the schema and the effort in one field, and unsupported rules as text', async (t) => {
  const wire = anthropicWire();
  const upstream = 'claude-opus-4-7';
  t.strictSame(bodyOf(wire, upstream, STRICT).output_config, {
    format: { type: 'json_schema', schema: STRICT },
  });
  t.strictSame(bodyOf(wire, upstream, LOOSE, { reasoning_effort: 'high' }).output_config, {
    effort: 'high',
    format: {
      type: 'json_schema',
      schema: {
        type: 'object',
        properties: { a: { type: 'string', description: 'minLength: 2' } },
        additionalProperties: false,
      },
    },
  });
  const described = { type: 'object', properties: { a: { oneOf: [{ type: 'string', format: 'iban' }] } } };
  t.match(bodyOf(wire, upstream, described).output_config, {
    format: {
      schema: { properties: { a: { anyOf: [{ type: 'string', description: 'format: "iban"' }] } } },
    },
  });
});

const capturing = (bodies: JsonObject[]): typeof fetch =>
  async function capture(_url, init) {
    bodies.push(JSON.parse(String(init?.body)));
    return new Response('data: [DONE]\n\n', { headers: { 'content-type': 'text/event-stream' } });
  };

const PACKAGES: [
  name: string,
  wire: Wire,
  upstream: string,
  model: (with_: typeof fetch) => LanguageModelV3,
][] = [
  [
    'openai-chat',
    openaiChatWire(OPENAI_CHAT),
    'gpt-4o',
    (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('gpt-4o'),
  ],
  [
    'openai-responses',
    openaiResponsesWire(),
    'gpt-5',
    (fetch) => createOpenAI({ apiKey: 'k', fetch }).responses('gpt-5'),
  ],
  [
    'anthropic',
    anthropicWire(),
    'claude-opus-4-7',
    (fetch) => createAnthropic({ apiKey: 'k', fetch })('claude-opus-4-7'),
  ],
];

for (const [name, wire, upstream, modelWith] of PACKAGES) {
  t.test(`${name} sends a strict schema like the package`, async (t) => {
    const bodies: JsonObject[] = [];
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    } as const;
    await modelWith(capturing(bodies)).doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      responseFormat: { type: 'json', name: 'answer', schema: { ...schema, required: ['a'] } },
    });
    const { response_format, text, output_config } = bodies[0] ?? {};
    const ours = bodyOf(wire, upstream, { ...schema, required: ['a'] });
    t.strictSame(
      [ours.response_format, ours.text, ours.output_config],
      [response_format, text, output_config],
    );
  });
}

t.test('gemini requests the type of JSON like the package', async (t) => {
  const bodies: JsonObject[] = [];
  await createGoogleGenerativeAI({ apiKey: 'k', fetch: capturing(bodies) })('gemini-3-pro').doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    responseFormat: { type: 'json' },
  });
  t.match(bodies[0], { generationConfig: { responseMimeType: 'application/json' } });
});

const SUBSETS: [what: string, schema: JsonObject, strict: boolean, closed: boolean][] = [
  ['a closed object with every property required', STRICT, true, true],
  ['an optional property', { ...STRICT, required: ['a'] }, false, true],
  ['an open object', { ...STRICT, additionalProperties: true }, false, false],
  ['an object without a list of properties', { type: 'object' }, false, false],
  [
    'a recursive schema',
    { ...STRICT, properties: { a: { type: 'array', items: { $ref: '#' } }, b: { type: 'null' } } },
    true,
    false,
  ],
  ['alternatives at the top', { ...STRICT, anyOf: [{ type: 'object' }] }, false, false],
  [
    'a rule for lengths',
    { ...STRICT, properties: { a: { type: 'string', minLength: 1 }, b: {} } },
    false,
    true,
  ],
  ['a list', { type: 'array', items: { type: 'string' } }, false, true],
];

for (const [what, schema, strict, closed] of SUBSETS) {
  t.test(`${what}: strict ${strict}, closed ${closed}`, async (t) => {
    t.equal(isStrictSchema(schema), strict);
    t.equal(isClosedSchema(schema), closed);
  });
}

const SUPPORT: [
  adapter: keyof typeof ADAPTERS,
  upstream: string,
  host: string,
  support: string | undefined,
  options?: JsonObject,
][] = [
  ['openai', 'gpt-4o', 'api.openai.com', 'with_tools'],
  ['openai', 'gpt-4.1-mini', 'api.openai.com', 'with_tools'],
  ['openai', 'gpt-4-turbo', 'api.openai.com', undefined],
  ['openai', 'gpt-3.5-turbo', 'api.openai.com', undefined],
  ['openai', 'gpt-4o', 'proxy.example', undefined],
  ['openai_resp', 'gpt-5', 'api.openai.com', 'with_tools'],
  ['anthropic', 'claude-sonnet-4-5', 'api.anthropic.com', 'with_tools'],
  ['anthropic', 'claude-opus-4-1-20250805', 'api.anthropic.com', 'with_tools'],
  ['anthropic', 'claude-sonnet-4-20250514', 'api.anthropic.com', undefined],
  ['anthropic', 'claude-3-haiku', 'api.anthropic.com', undefined],
  ['anthropic', 'claude-opus-5-5', 'api.anthropic.com', 'with_tools'],
  ['gemini', 'gemini-2.5-pro', 'g', 'alone'],
  ['gemini', 'gemini-3-pro', 'g', 'with_tools'],
  ['gemini', 'gemma-3', 'g', undefined],
  ['vertex', 'publishers/google/models/gemini-2.5-flash', 'v', 'alone'],
  ['ollama', 'llama3', 'localhost', 'alone'],
  ['deepseek', 'deepseek-chat', 'api.deepseek.com', undefined],
  ['azure', 'gpt-4o', 'r.openai.azure.com', 'with_tools'],
  ['azure', 'Team-GPT-5-mini', 'r.services.ai.azure.com', 'with_tools'],
  ['azure', 'o3-mini', 'r.openai.azure.com', 'with_tools'],
  ['azure', 'gpt-4o', 'r.openai.azure.com', 'with_tools', { api_version: '2024-08-01-preview' }],
  ['azure', 'gpt-4o', 'r.openai.azure.com', undefined, { api_version: '2024-06-01' }],
  ['azure', 'gpt-4', 'r.openai.azure.com', undefined],
  ['azure', 'gpt-35-turbo', 'r.openai.azure.com', undefined],
  ['azure', 'o1-mini', 'r.openai.azure.com', undefined],
  ['azure', 'DeepSeek-V3', 'r.services.ai.azure.com', undefined],
  ['azure', 'production', 'r.openai.azure.com', undefined],
  ['bedrock', 'anthropic.claude-opus-4-7', 'bedrock-runtime.us-east-1.amazonaws.com', undefined],
  ['mistral', 'mistral-large-latest', 'api.mistral.ai', 'alone'],
  ['openrouter', 'openai/gpt-5', 'openrouter.ai', undefined],
  ['vllm', 'qwen3', 'localhost', 'alone'],
  ['lmstudio', 'qwen3', 'localhost', 'alone'],
  ['openai_compatible', 'gpt-5', 'proxy.example', undefined],
];

for (const [adapter, upstream, host, support, options] of SUPPORT) {
  const version = options ? ` with ${JSON.stringify(options)}` : '';
  t.test(`${adapter} ${upstream} at ${host}${version}: ${support ?? 'no field'}`, async (t) => {
    const row: AdapterRow = ADAPTERS[adapter];
    const spec = { id: 'p', adapter, ...(options && { adapter_options: options }) };
    t.equal(row.structured?.({ schema: STRICT, upstream, host, spec }), support);
  });
}
