/**
 * Configurations and programs of clients of OpenAI. They agree with the examples of the guides, which a test compares.
 */

export type Called = {
  /** The address of the service. */
  url: string;
  agentId: string;
  /** Undefined for a service that needs none. */
  key: string | undefined;
};

const UNUSED = 'unused';

const double = (text: string): string => JSON.stringify(text);

const single = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Quotes a text for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Other texts, such as `true` or `1.0`, would not be read as texts. */
const isPlain = (text: string): boolean =>
  /^[A-Za-z$][\w$./:{}-]*$/.test(text) && !/^(?:true|false|null|yes|no|on|off|[yn])$/i.test(text);

const yaml = (text: string): string => (isPlain(text) ? text : double(text));

const lines = (...parts: (string | false)[]): string => parts.filter((part) => part !== false).join('\n');

const base = (url: string): string => `${url}/v1`;

const TEXTS = {
  openWebUi: ({ url, key = UNUSED }: Called) =>
    lines(
      `OPENAI_API_BASE_URL=${base(url)}`,
      `OPENAI_API_KEY=${key}`,
      'ENABLE_FORWARD_USER_INFO_HEADERS=true',
    ),
  libreChat: ({ url, agentId, key = UNUSED }: Called) =>
    lines(
      'version: 1.3.17',
      'endpoints:',
      '  custom:',
      '    - name: Troupe',
      `      apiKey: ${yaml(key)}`,
      `      baseURL: ${yaml(base(url))}`,
      '      models:',
      `        default: [${yaml(agentId)}]`,
      '        fetch: true',
      '      titleConvo: true',
      '      titleModel: current_model',
      '      headers:',
      '        x-conversation-id: "{{LIBRECHAT_BODY_CONVERSATIONID}}"',
      '        x-librechat-user-id: "{{LIBRECHAT_USER_ID}}"',
    ),
  openaiTs: ({ url, agentId, key = UNUSED }: Called) =>
    lines(
      "import OpenAI from 'openai';",
      '',
      `const client = new OpenAI({ baseURL: ${single(base(url))}, apiKey: ${single(key)} });`,
      `const response = await client.responses.create({ model: ${single(agentId)}, input: 'Hello' });`,
      'console.log(response.output_text);',
    ),
  openaiPy: ({ url, agentId, key = UNUSED }: Called) =>
    lines(
      'from openai import OpenAI',
      '',
      `client = OpenAI(base_url=${double(base(url))}, api_key=${double(key)})`,
      `response = client.responses.create(model=${double(agentId)}, input="Hello")`,
      'print(response.output_text)',
    ),
  langchainTs: ({ url, agentId, key = UNUSED }: Called) =>
    lines(
      "import { HumanMessage } from '@langchain/core/messages';",
      "import { ChatOpenAI } from '@langchain/openai';",
      '',
      'const model = new ChatOpenAI({',
      `  model: ${single(agentId)},`,
      `  apiKey: ${single(key)},`,
      `  configuration: { baseURL: ${single(base(url))} },`,
      '  streamUsage: true,',
      '});',
      "const answer = await model.invoke([new HumanMessage('hi')]);",
      'console.log(answer.text);',
    ),
  langchainPy: ({ url, agentId, key = UNUSED }: Called) =>
    lines(
      'from langchain_openai import ChatOpenAI',
      '',
      'model = ChatOpenAI(',
      `    model=${double(agentId)},`,
      `    api_key=${double(key)},`,
      `    base_url=${double(base(url))},`,
      '    stream_usage=True,',
      ')',
      'print(model.invoke("hi").text)',
    ),
  agentsTs: ({ url, agentId, key = UNUSED }: Called) =>
    lines(
      "import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled } from '@openai/agents';",
      "import OpenAI from 'openai';",
      '',
      'setTracingDisabled(true);',
      `const client = new OpenAI({ baseURL: ${single(base(url))}, apiKey: ${single(key)} });`,
      'const agent = new Agent({',
      "  name: 'assistant',",
      `  model: new OpenAIChatCompletionsModel(client, ${single(agentId)}),`,
      '});',
      "const result = await run(agent, 'hi');",
      'console.log(result.finalOutput);',
    ),
  agentsPy: ({ url, agentId, key = UNUSED }: Called) =>
    lines(
      'import asyncio',
      '',
      'from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled',
      'from openai import AsyncOpenAI',
      '',
      'set_tracing_disabled(True)',
      `client = AsyncOpenAI(base_url=${double(base(url))}, api_key=${double(key)})`,
      `agent = Agent(name="assistant", model=OpenAIChatCompletionsModel(${double(agentId)}, client))`,
      'print(asyncio.run(Runner.run(agent, "hi")).final_output)',
    ),
  aiSdk: ({ url, agentId, key }: Called) =>
    lines(
      "import { createOpenAICompatible } from '@ai-sdk/openai-compatible';",
      "import { streamText } from 'ai';",
      '',
      'const troupe = createOpenAICompatible({',
      "  name: 'troupe',",
      `  baseURL: ${single(base(url))},`,
      key !== undefined && `  apiKey: ${single(key)},`,
      '  includeUsage: true,',
      '  supportsStructuredOutputs: true,',
      '});',
      `const { textStream, usage } = streamText({ model: troupe(${single(agentId)}), prompt: 'hi' });`,
      'for await (const text of textStream) process.stdout.write(text);',
    ),
  litellm: ({ url, agentId, key = UNUSED }: Called) =>
    lines(
      'model_list:',
      `  - model_name: ${yaml(agentId)}`,
      '    litellm_params:',
      `      model: ${yaml(`openai/${agentId}`)}`,
      `      api_base: ${yaml(base(url))}`,
      `      api_key: ${yaml(key)}`,
    ),
  curl: ({ url, agentId, key }: Called) =>
    lines(
      `curl ${isPlain(url) ? base(url) : quoted(base(url))}/chat/completions \\`,
      "  -H 'content-type: application/json' \\",
      key !== undefined && `  -H ${quoted(`authorization: Bearer ${key}`)} \\`,
      `  -d ${quoted(JSON.stringify({ model: agentId, messages: [{ role: 'user', content: 'Hello' }] }))}`,
    ),
} as const satisfies Record<string, (called: Called) => string>;

export type Client = keyof typeof TEXTS;

/** Programs for which one user of the service is enough. */
const PROGRAMS = 'openai-clients';

type About = {
  language: string;
  /** The user of the service that requests of the client act for. */
  user: string;
  /** The client names its users, so its key acts for them. */
  isFront?: true;
  /** The client uses responses instead of chat completions. */
  isResponses?: true;
  /** Page of the manual. */
  guide: string;
};

export const CLIENTS: Readonly<Record<Client, About>> = {
  openWebUi: { language: 'ini', user: 'open-webui', isFront: true, guide: 'open-webui' },
  libreChat: { language: 'yaml', user: 'librechat', isFront: true, guide: 'librechat' },
  openaiTs: { language: 'ts', user: PROGRAMS, isResponses: true, guide: 'openai' },
  openaiPy: { language: 'python', user: PROGRAMS, isResponses: true, guide: 'openai' },
  langchainTs: { language: 'ts', user: PROGRAMS, guide: 'langchain' },
  langchainPy: { language: 'python', user: PROGRAMS, guide: 'langchain' },
  agentsTs: { language: 'ts', user: PROGRAMS, guide: 'openai-agents-sdk' },
  agentsPy: { language: 'python', user: PROGRAMS, guide: 'openai-agents-sdk' },
  aiSdk: { language: 'ts', user: PROGRAMS, guide: 'ai-sdk-provider' },
  litellm: { language: 'yaml', user: 'litellm', guide: 'litellm' },
  curl: { language: 'sh', user: PROGRAMS, guide: 'openai' },
};

// The keys of the table are exactly the clients.
export const CLIENT_IDS = Object.keys(CLIENTS) as Client[];

export const textFor = (client: Client, called: Called): string => TEXTS[client](called);
