import { boolean, choice, globs, headerNames, integer, milliseconds } from '../kinds.ts';
import { setting } from '../setting.ts';

/** Settings of the routes for clients of OpenAI. */
export const openAiSettings = [
  setting({
    key: 'openai.enabled',
    env: 'SERVICE_OPENAI_ENABLED',
    type: boolean(),
    default: true,
    doc: 'serve the OpenAI routes',
  }),
  setting({
    key: 'openai.agents',
    env: 'SERVICE_OPENAI_AGENTS',
    type: globs(),
    default: ['*'],
    doc: 'ids of the agents that are models; `*` matches any characters',
  }),
  setting({
    key: 'openai.chat_id_headers',
    env: 'SERVICE_OPENAI_CHAT_ID_HEADERS',
    type: headerNames(),
    default: ['x-openwebui-chat-id', 'x-librechat-conversation-id', 'x-conversation-id'],
    doc: 'headers that name the chat of a chat completion; the first one that a request has counts',
  }),
  setting({
    key: 'openai.user_headers',
    env: 'SERVICE_OPENAI_USER_HEADERS',
    type: headerNames(),
    default: ['x-openwebui-user-id', 'x-librechat-user-id'],
    doc: 'headers that name the end user of a request whose credential has `act`; other credentials ignore them',
  }),
  setting({
    key: 'openai.client_instructions',
    env: 'SERVICE_OPENAI_CLIENT_INSTRUCTIONS',
    type: choice(['append', 'ignore']),
    default: 'append',
    doc: 'whether system texts of clients follow the system prompt of the agent',
  }),
  setting({
    key: 'openai.tool_progress',
    env: 'SERVICE_OPENAI_TOOL_PROGRESS',
    type: choice(['hidden', 'reasoning']),
    default: 'hidden',
    doc: 'whether chat completions report calls of tools of the agent as reasoning',
  }),
  setting({
    key: 'openai.on_disconnect',
    env: 'SERVICE_OPENAI_ON_DISCONNECT',
    type: choice(['cancel', 'continue']),
    default: 'cancel',
    doc: 'the effect of a client that disconnects on its run',
  }),
  setting({
    key: 'openai.hold_waits_ms',
    env: 'SERVICE_OPENAI_HOLD_WAITS_MS',
    type: milliseconds(),
    default: 0,
    doc: 'time for which a chat completion stays open for a decision that is made elsewhere',
  }),
  setting({
    key: 'openai.blocking_wait_ms',
    env: 'SERVICE_OPENAI_BLOCKING_WAIT_MS',
    type: milliseconds(),
    default: 600_000,
    doc: 'maximum duration of a request without a stream; 0 = unlimited',
  }),
  setting({
    key: 'openai.unkeyed_retention_secs',
    env: 'SERVICE_OPENAI_UNKEYED_RETENTION_SECS',
    type: integer({ min: 1 }),
    default: 86_400,
    doc: 'age at which the thread of a chat completion without a chat id or a thread id is deleted',
  }),
  setting({
    key: 'openai.response_retention_days',
    env: 'SERVICE_OPENAI_RESPONSE_RETENTION_DAYS',
    type: integer({ min: 1 }),
    default: 30,
    doc: 'age at which stored responses are deleted',
  }),
] as const;
