import type { AdapterRow, Connection } from './adapter-row.ts';
import {
  AZURE_OPTIONS,
  azureHome,
  azureRoot,
  checkAzure,
  connectAzure,
  hasEntraCredentials,
} from './azure.ts';
import {
  BEDROCK_OPTIONS,
  bedrockHome,
  bedrockListUrl,
  checkBedrock,
  connectBedrock,
  hasAwsKeys,
} from './bedrock.ts';
import {
  type ChatOptions,
  COMPATIBLE_CHAT,
  DEEPSEEK_CHAT,
  FOREIGN_CHAT,
  OPENAI_CHAT,
} from './chat-options.ts';
import { onceLoaded } from './once-loaded.ts';
import {
  alone,
  anthropicStructured,
  azureStructured,
  geminiStructured,
  OPENAI_HOSTS,
  openaiStructured,
} from './structured.ts';
import { connectVertex, VERTEX_OPTIONS, vertexHome } from './vertex.ts';
import type { Endpoint } from './wire-model.ts';

/**
 * Every real adapter as a row: the address of its service, the variable that holds its key, and the wire format that
 * the service uses. The first inference of a provider loads its format.
 */

type Headers = Record<string, string>;

const always =
  (headers: Headers): Endpoint['headers'] =>
  () =>
    headers;

const bearer = ({ apiKey, headers }: Connection): Endpoint['headers'] =>
  always({ ...(apiKey !== '' && { authorization: `Bearer ${apiKey}` }), ...headers });

const chat = (options: ChatOptions): Endpoint['wire'] =>
  onceLoaded(async () => (await import('./wire/openai-chat.ts')).openaiChatWire(options));

type Compatible = Pick<AdapterRow, 'name' | 'baseUrl' | 'keyVariable' | 'docs'> & Partial<AdapterRow>;

const compatible = (row: Compatible, options = COMPATIBLE_CHAT): AdapterRow => ({
  ...row,
  connect: (connection) => ({ wire: chat(options), headers: bearer(connection) }),
});

/** In the order of `capabilities.supported_adapters`. */
export const ADAPTERS = {
  anthropic: {
    name: 'Anthropic',
    keyPage: 'https://platform.claude.com/settings/keys',
    baseUrl: 'https://api.anthropic.com/v1/',
    keyVariable: 'ANTHROPIC_API_KEY',
    docs: 'https://platform.claude.com/docs/en/api/messages',
    list: {
      schema: 'openai',
      onRequest: true,
      // A page has 20 models otherwise.
      url: (baseURL) => `${baseURL}models?limit=1000`,
      isAuthorizedAsInference: true,
      headers: { 'anthropic-version': '2023-06-01' },
    },
    structured: anthropicStructured,
    connect: ({ apiKey, headers }) => ({
      wire: onceLoaded(async () => (await import('./wire/anthropic.ts')).anthropicWire()),
      headers: always({ 'x-api-key': apiKey, ...headers }),
    }),
  },
  openai: {
    name: 'OpenAI',
    keyPage: 'https://platform.openai.com/api-keys',
    baseUrl: 'https://api.openai.com/v1/',
    keyVariable: 'OPENAI_API_KEY',
    docs: 'https://platform.openai.com/docs/api-reference/chat',
    list: { schema: 'openai' },
    structured: openaiStructured,
    connect: (connection) => ({
      wire: chat(OPENAI_HOSTS.test(new URL(connection.baseURL).hostname) ? OPENAI_CHAT : FOREIGN_CHAT),
      headers: bearer(connection),
    }),
  },
  openai_resp: {
    name: 'OpenAI (Responses API)',
    variantOf: 'openai',
    keyPage: 'https://platform.openai.com/api-keys',
    baseUrl: 'https://api.openai.com/v1/',
    keyVariable: 'OPENAI_API_KEY',
    docs: 'https://platform.openai.com/docs/api-reference/responses',
    structured: openaiStructured,
    connect: (connection) => ({
      wire: onceLoaded(async () => (await import('./wire/openai-responses.ts')).openaiResponsesWire()),
      headers: bearer(connection),
    }),
  },
  deepseek: compatible(
    {
      name: 'DeepSeek',
      keyPage: 'https://platform.deepseek.com/api_keys',
      baseUrl: 'https://api.deepseek.com/v1/',
      keyVariable: 'DEEPSEEK_API_KEY',
      docs: 'https://api-docs.deepseek.com',
      list: { schema: 'openai', onRequest: true },
    },
    DEEPSEEK_CHAT,
  ),
  gemini: {
    name: 'Google Gemini',
    keyPage: 'https://aistudio.google.com/apikey',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/',
    keyVariable: 'GEMINI_API_KEY',
    docs: 'https://ai.google.dev/gemini-api/docs',
    list: { schema: 'gemini' },
    structured: geminiStructured,
    connect: ({ apiKey, headers }) => ({
      wire: onceLoaded(async () => (await import('./wire/gemini.ts')).geminiWire({ platform: 'gemini' })),
      headers: always({ 'x-goog-api-key': apiKey, ...headers }),
    }),
  },
  ollama: compatible({
    name: 'Ollama',
    baseUrl: 'http://localhost:11434/v1/',
    keyVariable: 'OLLAMA_API_KEY',
    keyOptional: true,
    docs: 'https://docs.ollama.com/api/openai-compatibility',
    list: { schema: 'openai', onRequest: true },
    structured: alone,
  }),
  ollama_cloud: compatible({
    name: 'Ollama Cloud',
    keyPage: 'https://ollama.com/settings/keys',
    baseUrl: 'https://ollama.com/v1/',
    keyVariable: 'OLLAMA_API_KEY',
    docs: 'https://docs.ollama.com/cloud',
  }),
  cohere: compatible({
    name: 'Cohere',
    keyPage: 'https://dashboard.cohere.com/api-keys',
    baseUrl: 'https://api.cohere.ai/compatibility/v1/',
    keyVariable: 'COHERE_API_KEY',
    docs: 'https://docs.cohere.com/docs/compatibility-api',
  }),
  together: compatible({
    name: 'Together AI',
    keyPage: 'https://api.together.ai/settings/api-keys',
    baseUrl: 'https://api.together.xyz/v1/',
    keyVariable: 'TOGETHER_API_KEY',
    docs: 'https://docs.together.ai/docs/openai-api-compatibility',
  }),
  fireworks: compatible({
    name: 'Fireworks AI',
    keyPage: 'https://app.fireworks.ai/settings/users/api-keys',
    baseUrl: 'https://api.fireworks.ai/inference/v1/',
    keyVariable: 'FIREWORKS_API_KEY',
    docs: 'https://docs.fireworks.ai/tools-sdks/openai-compatibility',
    structured: alone,
  }),
  groq: compatible({
    name: 'Groq',
    keyPage: 'https://console.groq.com/keys',
    baseUrl: 'https://api.groq.com/openai/v1/',
    keyVariable: 'GROQ_API_KEY',
    docs: 'https://console.groq.com/docs/openai',
    list: { schema: 'openai', onRequest: true },
  }),
  xai: compatible({
    name: 'xAI',
    keyPage: 'https://console.x.ai',
    baseUrl: 'https://api.x.ai/v1/',
    keyVariable: 'XAI_API_KEY',
    docs: 'https://docs.x.ai/docs/api-reference',
    list: { schema: 'openai', onRequest: true },
  }),
  zai: compatible({
    name: 'Z.ai',
    keyPage: 'https://z.ai/manage-apikey/apikey-list',
    baseUrl: 'https://api.z.ai/api/paas/v4/',
    keyVariable: 'ZAI_API_KEY',
    docs: 'https://docs.z.ai/api-reference/introduction',
  }),
  bigmodel: compatible({
    name: 'BigModel',
    keyPage: 'https://open.bigmodel.cn/usercenter/apikeys',
    baseUrl: 'https://open.bigmodel.cn/api/paas/v4/',
    keyVariable: 'BIGMODEL_API_KEY',
    docs: 'https://docs.bigmodel.cn',
  }),
  aliyun: compatible({
    name: 'Alibaba Cloud Model Studio',
    baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1/',
    keyVariable: 'ALIYUN_API_KEY',
    docs: 'https://help.aliyun.com/zh/model-studio/compatibility-of-openai-with-dashscope',
  }),
  mimo: compatible({
    name: 'Xiaomi MiMo',
    baseUrl: 'https://api.xiaomimimo.com/v1/',
    keyVariable: 'MIMO_API_KEY',
    docs: 'https://platform.xiaomimimo.com',
  }),
  nebius: compatible({
    name: 'Nebius Token Factory',
    baseUrl: 'https://api.studio.nebius.ai/v1/',
    keyVariable: 'NEBIUS_API_KEY',
    docs: 'https://docs.tokenfactory.nebius.com',
  }),
  vertex: {
    name: 'Google Vertex AI',
    baseUrl: vertexHome,
    keyVariable: 'VERTEX_API_KEY',
    credentials: { areIn: () => false, variables: [], hosts: /(^|\.)googleapis\.com$/ },
    docs: 'https://cloud.google.com/vertex-ai/generative-ai/docs',
    options: VERTEX_OPTIONS,
    structured: geminiStructured,
    connect: connectVertex,
  },
  // The owner agrees with the service on the headers that identify a program: `adapter_options.headers`.
  github_copilot: compatible({
    name: 'GitHub Copilot',
    baseUrl: 'https://api.githubcopilot.com/',
    keyVariable: 'GITHUB_COPILOT_TOKEN',
    docs: 'https://docs.github.com/en/copilot',
  }),
  azure: {
    name: 'Azure OpenAI',
    baseUrl: azureHome,
    homeOption: 'resource',
    rootOf: azureRoot,
    keyVariable: 'AZURE_OPENAI_API_KEY',
    addressVariable: 'AZURE_OPENAI_ENDPOINT',
    credentials: {
      areIn: hasEntraCredentials,
      variables: ['AZURE_OPENAI_AD_TOKEN', 'AZURE_CLIENT_SECRET'],
      hosts: /\.(openai\.azure\.(com|us)|(services\.ai|cognitiveservices)\.azure\.(com|us))$/,
    },
    docs: 'https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle',
    list: { schema: 'openai', isAuthorizedAsInference: true },
    options: AZURE_OPTIONS,
    structured: azureStructured,
    check: checkAzure,
    connect: connectAzure,
  },
  bedrock: {
    name: 'Amazon Bedrock',
    baseUrl: bedrockHome,
    homeOption: 'region',
    keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
    addressVariable: 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME',
    credentials: {
      areIn: hasAwsKeys,
      variables: [
        'AWS_ACCESS_KEY_ID',
        'AWS_SECRET_ACCESS_KEY',
        'AWS_SESSION_TOKEN',
        'AWS_CONTAINER_AUTHORIZATION_TOKEN',
      ],
      hosts: /\.amazonaws\.com(\.cn)?$/,
    },
    docs: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html',
    list: { schema: 'bedrock', url: bedrockListUrl, isAuthorizedAsInference: true },
    options: BEDROCK_OPTIONS,
    check: checkBedrock,
    connect: connectBedrock,
  },
  mistral: {
    name: 'Mistral',
    keyPage: 'https://console.mistral.ai/api-keys',
    baseUrl: 'https://api.mistral.ai/v1/',
    keyVariable: 'MISTRAL_API_KEY',
    docs: 'https://docs.mistral.ai/api',
    list: { schema: 'openai' },
    structured: alone,
    connect: (connection) => ({
      wire: onceLoaded(async () => (await import('./wire/openai-chat-mistral.ts')).mistralWire()),
      headers: bearer(connection),
    }),
  },
  openrouter: {
    name: 'OpenRouter',
    keyPage: 'https://openrouter.ai/settings/keys',
    baseUrl: 'https://openrouter.ai/api/v1/',
    keyVariable: 'OPENROUTER_API_KEY',
    docs: 'https://openrouter.ai/docs/api-reference/overview',
    list: { schema: 'openai' },
    options: [{ name: 'provider', isObject: true }],
    connect: (connection, { adapter_options }) => ({
      wire: onceLoaded(async () =>
        (await import('./wire/openai-chat-openrouter.ts')).openRouterWire(adapter_options?.provider),
      ),
      headers: bearer(connection),
    }),
  },
  vllm: compatible({
    name: 'vLLM',
    baseUrl: 'http://localhost:8000/v1/',
    keyVariable: 'VLLM_API_KEY',
    keyOptional: true,
    docs: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
    list: { schema: 'openai' },
    structured: alone,
  }),
  lmstudio: compatible({
    name: 'LM Studio',
    baseUrl: 'http://localhost:1234/v1/',
    keyVariable: 'LM_API_TOKEN',
    keyOptional: true,
    docs: 'https://lmstudio.ai/docs/developer/openai-compat',
    list: { schema: 'openai' },
    structured: alone,
  }),
  openai_compatible: compatible({
    name: 'OpenAI-compatible server',
    baseUrl: () => undefined,
    keyVariable: 'OPENAI_COMPATIBLE_API_KEY',
    keyOptional: true,
    docs: 'https://platform.openai.com/docs/api-reference/chat',
    list: { schema: 'openai' },
  }),
} satisfies Record<string, AdapterRow>;
