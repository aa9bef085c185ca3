import { choice, integer, reasoningEffort, text, url } from '../kinds.ts';
import { setting } from '../setting.ts';

export const seedSettings = [
  setting({
    key: 'seed.profile',
    env: 'SERVICE_SEED_PROFILE',
    type: choice(['minimal', 'demo']),
    default: 'minimal',
    doc: 'which records are seeded',
  }),
  setting({
    key: 'default_agent_id',
    env: 'SERVICE_DEFAULT_AGENT_ID',
    alsoRead: ['AGENT_ID'],
    type: text(),
    default: 'default',
    doc: 'agent of requests that name none, and id of the seeded agent',
  }),
  setting({
    key: 'seed.model',
    env: 'SERVICE_SEED_MODEL',
    alsoRead: ['AGENT_MODEL'],
    type: text(),
    default: 'deepseek-chat',
    doc: 'upstream name of model `default`',
  }),
  setting({
    key: 'seed.max_rounds',
    env: 'SERVICE_SEED_MAX_ROUNDS',
    alsoRead: ['AGENT_MAX_ROUNDS'],
    type: integer(),
    default: 8,
    doc: 'max_rounds of the demo agents that call tools round after round',
  }),
  setting({
    key: 'seed.system_prompt',
    env: 'SERVICE_SEED_SYSTEM_PROMPT',
    alsoRead: ['AGENT_SYSTEM_PROMPT'],
    type: text(),
    default: 'You are a helpful assistant. You can look up weather and stock prices and keep short notes.',
    doc: 'base prompt of the seeded agents',
  }),
  setting({
    key: 'seed.reasoning_effort',
    env: 'SERVICE_SEED_REASONING_EFFORT',
    alsoRead: ['AGENT_REASONING_EFFORT'],
    type: reasoningEffort(),
    doc: 'reasoning of the agents `default` and `thinking`',
  }),
  setting({
    key: 'seed.openai_adapter',
    env: 'SERVICE_SEED_OPENAI_ADAPTER',
    alsoRead: ['OPENAI_ADAPTER'],
    type: text(),
    unset: 'inferred from the model name',
    doc: 'adapter of provider `default`',
  }),
  setting({
    key: 'openai.api_key',
    env: 'OPENAI_API_KEY',
    type: text(),
    secret: true,
    not: 'flag or file',
    doc: 'key of provider `default`; without it and OPENAI_BASE_URL its answers are scripted',
  }),
  setting({
    key: 'openai.base_url',
    env: 'OPENAI_BASE_URL',
    type: url(),
    not: 'flag or file',
    doc: 'address of provider `default`, an OpenAI-compatible API',
  }),
] as const;
