import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import t, { type Test } from 'tap';
import { COMPATIBLE_CHAT, DEEPSEEK_CHAT, OPENAI_CHAT } from '../../../src/models/chat-options.ts';
import type { InferenceRequest, ToolChoice } from '../../../src/models/model.ts';
import { anthropicWire } from '../../../src/models/wire/anthropic.ts';
import { geminiWire } from '../../../src/models/wire/gemini.ts';
import { openaiChatWire } from '../../../src/models/wire/openai-chat.ts';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import type { Wire } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { nameForModel } from '../../../src/schema/model-tool.ts';
import type { ToolDescriptor } from '../../../src/schema/tool-descriptor.ts';
import { requestOf } from '../infer.ts';
import { callOf } from './decode.ts';
import { refusalsOf } from './strict-anthropic.ts';
import { refusalOfGemini } from './strict-gemini.ts';
import { problemsOfChat } from './strict-openai-chat.ts';
import { rejectionOf } from './strict-openai-responses.ts';

/** Restrictions on the calls of the model, in each format. */

const toolOf = (id: string): ToolDescriptor => ({
  id,
  name: id,
  description: 'Does it.',
  category: null,
  parameters: { type: 'object', properties: { a: { type: 'string' } } },
});
const TOOLS = [toolOf('look up'), toolOf('save')];
const LOOK_UP = nameForModel('look up');

type Format = {
  wire: Wire;
  upstream: string;
  /** The reasons for which the service rejects the body. */
  problems(sent: ReturnType<Wire['encode']>): unknown;
};

const CHAT: Format = {
  wire: openaiChatWire(OPENAI_CHAT),
  upstream: 'gpt-4o',
  problems: ({ body }) => problemsOfChat(body),
};
const DEEPSEEK: Format = {
  wire: openaiChatWire(DEEPSEEK_CHAT),
  upstream: 'deepseek-v4-pro',
  problems: ({ body }) => problemsOfChat(body, { reasoningRequired: true }),
};
const RESPONSES: Format = {
  wire: openaiResponsesWire(),
  upstream: 'gpt-5',
  problems: ({ body }) => [rejectionOf(body)].filter((problem) => problem !== undefined),
};
const ANTHROPIC: Format = { wire: anthropicWire(), upstream: 'claude-sonnet-4-5', problems: refusalsOf };
const GEMINI: Format = {
  wire: geminiWire({ platform: 'gemini' }),
  upstream: 'gemini-2.5-pro',
  problems: (sent) => [refusalOfGemini(sent, 'gemini')].filter((problem) => problem !== undefined),
};

const bodyOf = (
  t: Test,
  { wire, upstream, problems }: Format,
  request: Partial<InferenceRequest>,
): JsonObject => {
  const sent = wire.encode(callOf({ upstream, request: requestOf('Hi', request) }));
  t.strictSame(problems(sent), []);
  return JSON.parse(JSON.stringify(sent.body));
};

const calling = (config: JsonObject): JsonObject => ({ toolConfig: { functionCallingConfig: config } });

const CASES: [name: string, format: Format, choice: ToolChoice, sent: JsonObject][] = [
  ['openai-chat', CHAT, 'auto', { tool_choice: 'auto' }],
  ['openai-chat', CHAT, 'none', { tool_choice: 'none' }],
  ['openai-chat', CHAT, 'required', { tool_choice: 'required' }],
  [
    'openai-chat',
    CHAT,
    { tool: 'look up' },
    { tool_choice: { type: 'function', function: { name: LOOK_UP } } },
  ],
  ['openai-responses', RESPONSES, 'auto', { tool_choice: 'auto' }],
  ['openai-responses', RESPONSES, 'none', { tool_choice: 'none' }],
  ['openai-responses', RESPONSES, 'required', { tool_choice: 'required' }],
  ['openai-responses', RESPONSES, { tool: 'look up' }, { tool_choice: { type: 'function', name: LOOK_UP } }],
  ['anthropic', ANTHROPIC, 'auto', { tool_choice: { type: 'auto' } }],
  ['anthropic', ANTHROPIC, 'none', { tool_choice: { type: 'none' } }],
  ['anthropic', ANTHROPIC, 'required', { tool_choice: { type: 'any' } }],
  ['anthropic', ANTHROPIC, { tool: 'look up' }, { tool_choice: { type: 'tool', name: LOOK_UP } }],
  ['gemini', GEMINI, 'auto', calling({ mode: 'AUTO' })],
  ['gemini', GEMINI, 'none', calling({ mode: 'NONE' })],
  ['gemini', GEMINI, 'required', calling({ mode: 'ANY' })],
  ['gemini', GEMINI, { tool: 'look up' }, calling({ mode: 'ANY', allowedFunctionNames: [LOOK_UP] })],
];

const choiceIn = ({ tool_choice, toolConfig }: JsonObject): JsonObject => ({
  ...(tool_choice !== undefined && { tool_choice }),
  ...(toolConfig !== undefined && { toolConfig }),
});

for (const [name, format, toolChoice, sent] of CASES) {
  t.test(`${name} encodes the choice ${JSON.stringify(toolChoice)}`, async (t) => {
    const body = bodyOf(t, format, { tools: TOOLS, toolChoice });
    t.strictSame(choiceIn(body), sent);
    t.match(JSON.stringify(body.tools), /save/, 'offers each tool');
  });
}

for (const [name, format] of Object.entries({ CHAT, DEEPSEEK, RESPONSES, ANTHROPIC, GEMINI })) {
  t.test(`${name}: omits a choice that the service would reject`, async (t) => {
    for (const toolChoice of ['auto', 'none', 'required', { tool: 'save' }] as const)
      t.strictSame(choiceIn(bodyOf(t, format, { toolChoice })), {}, 'a request without tools has no choice');
    t.strictSame(choiceIn(bodyOf(t, format, { tools: TOOLS, toolChoice: { tool: 'other' } })), {});
    t.strictSame(choiceIn(bodyOf(t, format, { tools: TOOLS })), {}, 'a request without a choice has none');
  });
}

const THINKING = { reasoning_effort: 'high' } as const;

const UNFORCED: [name: string, format: Format, overrides: InferenceRequest['overrides']][] = [
  ['a thinking budget', ANTHROPIC, THINKING],
  ['adaptive thinking', { ...ANTHROPIC, upstream: 'claude-opus-4-7' }, THINKING],
  ['a model that always thinks', { ...ANTHROPIC, upstream: 'claude-opus-5-5' }, {}],
  [
    'a model that thinks between tools',
    { ...ANTHROPIC, upstream: 'claude-sonnet-5-5' },
    { reasoning_effort: 'none' },
  ],
  ['a service whose models think by default', DEEPSEEK, {}],
];

for (const [name, format, overrides] of UNFORCED) {
  t.test(`with ${name} a forced choice becomes auto, with only the named tool`, async (t) => {
    const auto = format === DEEPSEEK ? 'auto' : { type: 'auto' };
    const required = bodyOf(t, format, { tools: TOOLS, toolChoice: 'required', overrides });
    t.strictSame(choiceIn(required), { tool_choice: auto });
    t.match(JSON.stringify(required.tools), /save/);
    const named = bodyOf(t, format, { tools: TOOLS, toolChoice: { tool: 'look up' }, overrides });
    t.strictSame(choiceIn(named), { tool_choice: auto });
    t.notMatch(JSON.stringify(named.tools), /save/, 'offers only the tool that is named');
    t.match(JSON.stringify(named.tools), LOOK_UP);
  });
}

t.test('forces a call for a model that thinks by default but accepts forced calls', async (t) => {
  for (const upstream of ['claude-fable-5', 'claude-opus-5', 'claude-haiku-5-5']) {
    const body = bodyOf(t, { ...ANTHROPIC, upstream }, { tools: TOOLS, toolChoice: 'required' });
    t.strictSame(body.tool_choice, { type: 'any' }, upstream);
  }
});

/* Comparison with the packages */

const capturing = (bodies: JsonObject[]): typeof fetch =>
  async function capture(_url, init) {
    bodies.push(JSON.parse(String(init?.body)));
    return new Response('data: [DONE]\n\n', { headers: { 'content-type': 'text/event-stream' } });
  };

const PACKAGES: [name: string, format: Format, model: (fetch: typeof globalThis.fetch) => LanguageModelV3][] =
  [
    ['openai-chat', CHAT, (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat(CHAT.upstream)],
    [
      'compatible',
      { ...CHAT, wire: openaiChatWire(COMPATIBLE_CHAT), upstream: 'm' },
      (fetch) => createOpenAICompatible({ name: 'p', baseURL: 'http://oracle.test', fetch })('m'),
    ],
    [
      'openai-responses',
      RESPONSES,
      (fetch) => createOpenAI({ apiKey: 'k', fetch }).responses(RESPONSES.upstream),
    ],
    ['anthropic', ANTHROPIC, (fetch) => createAnthropic({ apiKey: 'k', fetch })(ANTHROPIC.upstream)],
    ['gemini', GEMINI, (fetch) => createGoogleGenerativeAI({ apiKey: 'k', fetch })(GEMINI.upstream)],
  ];

for (const [name, format, modelWith] of PACKAGES) {
  t.test(`${name} restricts calls like the package`, async (t) => {
    for (const choice of ['auto', 'none', 'required', { tool: 'save' }] as const) {
      const bodies: JsonObject[] = [];
      const model = modelWith(capturing(bodies));
      await model.doStream({
        prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
        tools: [{ type: 'function', name: 'save', inputSchema: { type: 'object', properties: {} } }],
        toolChoice: typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.tool },
      });
      const ours = bodyOf(t, format, { tools: [toolOf('save')], toolChoice: choice });
      t.strictSame(choiceIn(ours), choiceIn(bodies[0] ?? {}), JSON.stringify(choice));
    }
  });
}
