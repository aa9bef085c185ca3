import type { OpenAICompatibleProviderSettings } from '@ai-sdk/openai-compatible';
import type { ProviderSpec } from '../schema/model.ts';
import { type AiSdkAdapter, onceLoaded } from './ai-sdk.ts';
import { anthropicCache, compatibleCache, openaiCache } from './cache-hints.ts';
import {
  anthropicEffort,
  compatibleEffort,
  foreignEffort,
  geminiEffort,
  isOpenAiThinker,
  openaiChatEffort,
  openaiResponsesEffort,
} from './effort.ts';
import { googleLanguage } from './google.ts';
import { connectVertex, vertexBaseUrl } from './vertex.ts';

/**
 * Every real adapter as a row: where its service is, which variable holds its key, and how to speak to it. A row
 * always passes its base URL and key on: left out, the packages would read the environment by themselves.
 */

export type Connection = {
  baseURL: string;
  apiKey: string;
  headers: Record<string, string>;
  fetch: typeof fetch;
};

export type AdapterRow = {
  /** Where the service is unless the spec says so itself. */
  baseUrl: string | ((spec: ProviderSpec) => string);
  keyVariable: string;
  /** The service also answers without a key. */
  keyOptional?: boolean;
  connect(connection: Connection, spec: ProviderSpec): AiSdkAdapter;
};

/** Where an adapter sends its requests unless the spec names another address. */
export const homeOf = ({ baseUrl }: AdapterRow, spec: ProviderSpec): string =>
  typeof baseUrl === 'string' ? baseUrl : baseUrl(spec);

const compatibleChat = (
  options: Connection & Pick<OpenAICompatibleProviderSettings, 'transformRequestBody'>,
): AiSdkAdapter['language'] =>
  onceLoaded(async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return createOpenAICompatible({ name: 'compatible', includeUsage: true, ...options }).chatModel;
  });

const compatible = (baseUrl: string, keyVariable: string): AdapterRow => ({
  baseUrl,
  keyVariable,
  connect: (connection) => ({
    language: compatibleChat(connection),
    effort: compatibleEffort,
    systemFirst: false,
  }),
});

const OPENAI_HOSTS = /(^|\.)(openai\.com|openai\.azure\.com)$/;

/**
 * OpenAI's own protocol has no reasoning text; most other services that speak it stream some, which the package for
 * them reads. What models of OpenAI refuse is left out of what they are sent, also through somebody else.
 */
const foreign = (connection: Connection): AiSdkAdapter => ({
  language: compatibleChat({ ...connection, transformRequestBody: withoutRefused }),
  effort: foreignEffort,
  cache: compatibleCache,
  systemFirst: false,
});

const withoutRefused = (body: Record<string, unknown>): Record<string, unknown> => {
  const { max_tokens, temperature, top_p, ...rest } = body;
  if (!isOpenAiThinker(String(body.model))) return body;
  return max_tokens === undefined ? rest : { ...rest, max_completion_tokens: max_tokens };
};

/** Later ones refuse a picture without the signature of the thought behind it, which is not kept. */
const takesOwnPictures = (upstream: string): boolean => /(^|\/)gemini-[12]\b/.test(upstream);

const openai = async (connection: Connection) => {
  const { createOpenAI } = await import('@ai-sdk/openai');
  return createOpenAI(connection);
};

/** In the order in which `capabilities.supported_adapters` lists them. */
export const ADAPTERS = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1/',
    keyVariable: 'ANTHROPIC_API_KEY',
    connect: (connection) => ({
      language: onceLoaded(async () => {
        const { createAnthropic } = await import('@ai-sdk/anthropic');
        return createAnthropic(connection).languageModel;
      }),
      effort: anthropicEffort,
      cache: anthropicCache,
      systemFirst: true,
    }),
  },
  openai: {
    baseUrl: 'https://api.openai.com/v1/',
    keyVariable: 'OPENAI_API_KEY',
    connect: (connection) =>
      OPENAI_HOSTS.test(new URL(connection.baseURL).hostname)
        ? {
            language: onceLoaded(async () => (await openai(connection)).chat),
            effort: openaiChatEffort,
            cache: openaiCache,
            systemFirst: false,
          }
        : foreign(connection),
  },
  openai_resp: {
    baseUrl: 'https://api.openai.com/v1/',
    keyVariable: 'OPENAI_API_KEY',
    connect: (connection) => ({
      language: onceLoaded(async () => (await openai(connection)).responses),
      effort: openaiResponsesEffort,
      cache: openaiCache,
      // The history is sent whole every time; without a stored copy the service returns its reasoning encrypted.
      options: { openai: { store: false } },
      systemFirst: false,
    }),
  },
  deepseek: compatible('https://api.deepseek.com/v1/', 'DEEPSEEK_API_KEY'),
  gemini: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/',
    keyVariable: 'GEMINI_API_KEY',
    connect: (connection) => ({
      language: googleLanguage(connection),
      effort: geminiEffort,
      systemFirst: true,
      ownPictures: takesOwnPictures,
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
    connect: (connection, spec) => ({
      language: connectVertex(connection, spec),
      effort: geminiEffort,
      systemFirst: true,
      ownPictures: takesOwnPictures,
    }),
  },
  // Which headers a program has to name itself by is between its owner and the service: `adapter_options.headers`.
  github_copilot: compatible('https://api.githubcopilot.com/', 'GITHUB_COPILOT_TOKEN'),
} satisfies Record<string, AdapterRow>;
