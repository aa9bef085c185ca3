import type { ProviderSpec } from '../schema/model.ts';
import type { TokenDeps } from './google-token.ts';
import { vertexAuthorization, vertexBaseUrl } from './vertex.ts';
import {
  type ChatOptions,
  COMPATIBLE_CHAT,
  DEEPSEEK_CHAT,
  FOREIGN_CHAT,
  OPENAI_CHAT,
} from './wire/openai-chat-options.ts';
import type { Endpoint } from './wire-model.ts';

/**
 * Every real adapter as a row: the address of its service, the variable that holds its key, and the wire format that
 * its service speaks. A format is loaded by the first inference of a provider that speaks it.
 */

export type Connection = {
  /** Ends with `/`. */
  baseURL: string;
  /** Empty where the service also answers without one. */
  apiKey: string;
  /** Sent with every request, in addition to those of the format. */
  headers: Record<string, string>;
  tokens: TokenDeps;
};

export type AdapterRow = {
  /** Where the service is unless the spec names another address. */
  baseUrl: string | ((spec: ProviderSpec) => string);
  keyVariable: string;
  /** The service also answers without a key. */
  keyOptional?: boolean;
  connect(connection: Connection, spec: ProviderSpec): Pick<Endpoint, 'wire' | 'headers'>;
};

/** Where an adapter sends its requests unless the spec names another address. */
export const homeOf = ({ baseUrl }: AdapterRow, spec: ProviderSpec): string =>
  typeof baseUrl === 'string' ? baseUrl : baseUrl(spec);

type Headers = Record<string, string>;

const always =
  (headers: Headers): Endpoint['headers'] =>
  () =>
    headers;

const bearer = ({ apiKey, headers }: Connection): Endpoint['headers'] =>
  always({ ...(apiKey !== '' && { authorization: `Bearer ${apiKey}` }), ...headers });

const chat = (options: ChatOptions) => async () =>
  (await import('./wire/openai-chat.ts')).openaiChatWire(options);

const compatible = (baseUrl: string, keyVariable: string, options = COMPATIBLE_CHAT): AdapterRow => ({
  baseUrl,
  keyVariable,
  connect: (connection) => ({ wire: chat(options), headers: bearer(connection) }),
});

/** Hosts of OpenAI and Azure. */
export const OPENAI_HOSTS = /(^|\.)(openai\.com|openai\.azure\.com)$/;

const gemini = (platform: 'gemini' | 'vertex') => async () =>
  (await import('./wire/gemini.ts')).geminiWire({ platform });

/** In the order in which `capabilities.supported_adapters` lists them. */
export const ADAPTERS = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1/',
    keyVariable: 'ANTHROPIC_API_KEY',
    connect: ({ apiKey, headers }) => ({
      wire: async () => (await import('./wire/anthropic.ts')).anthropicWire(),
      headers: always({ 'x-api-key': apiKey, ...headers }),
    }),
  },
  openai: {
    baseUrl: 'https://api.openai.com/v1/',
    keyVariable: 'OPENAI_API_KEY',
    connect: (connection) => ({
      wire: chat(OPENAI_HOSTS.test(new URL(connection.baseURL).hostname) ? OPENAI_CHAT : FOREIGN_CHAT),
      headers: bearer(connection),
    }),
  },
  openai_resp: {
    baseUrl: 'https://api.openai.com/v1/',
    keyVariable: 'OPENAI_API_KEY',
    connect: (connection) => ({
      wire: async () => (await import('./wire/openai-responses.ts')).openaiResponsesWire(),
      headers: bearer(connection),
    }),
  },
  deepseek: compatible('https://api.deepseek.com/v1/', 'DEEPSEEK_API_KEY', DEEPSEEK_CHAT),
  gemini: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/',
    keyVariable: 'GEMINI_API_KEY',
    connect: ({ apiKey, headers }) => ({
      wire: gemini('gemini'),
      headers: always({ 'x-goog-api-key': apiKey, ...headers }),
    }),
  },
  ollama: { ...compatible('http://localhost:11434/v1/', 'OLLAMA_API_KEY'), keyOptional: true },
  ollama_cloud: compatible('https://ollama.com/v1/', 'OLLAMA_API_KEY'),
  cohere: compatible('https://api.cohere.ai/compatibility/v1/', 'COHERE_API_KEY'),
  together: compatible('https://api.together.xyz/v1/', 'TOGETHER_API_KEY'),
  fireworks: compatible('https://api.fireworks.ai/inference/v1/', 'FIREWORKS_API_KEY'),
  groq: compatible('https://api.groq.com/openai/v1/', 'GROQ_API_KEY'),
  xai: compatible('https://api.x.ai/v1/', 'XAI_API_KEY'),
  zai: compatible('https://api.z.ai/api/paas/v4/', 'ZAI_API_KEY'),
  bigmodel: compatible('https://open.bigmodel.cn/api/paas/v4/', 'BIGMODEL_API_KEY'),
  aliyun: compatible('https://dashscope.aliyuncs.com/compatible-mode/v1/', 'ALIYUN_API_KEY'),
  mimo: compatible('https://api.xiaomimimo.com/v1/', 'MIMO_API_KEY'),
  nebius: compatible('https://api.studio.nebius.ai/v1/', 'NEBIUS_API_KEY'),
  vertex: {
    baseUrl: vertexBaseUrl,
    keyVariable: 'VERTEX_API_KEY',
    connect: ({ apiKey, headers, tokens }, spec) => {
      const authorization = vertexAuthorization(apiKey, spec, tokens);
      return {
        wire: gemini('vertex'),
        headers: async (signal) => ({ ...(await authorization(signal)), ...headers }),
      };
    },
  },
  // Which headers a program has to name itself by is between its owner and the service: `adapter_options.headers`.
  github_copilot: compatible('https://api.githubcopilot.com/', 'GITHUB_COPILOT_TOKEN'),
} satisfies Record<string, AdapterRow>;
