import type { JsonObject } from '../../schema/json.ts';
import { COMPATIBLE_CHAT } from '../chat-options.ts';
import { mistralCallId } from './mistral-ids.ts';
import { openaiChatWire } from './openai-chat.ts';
import { listOf, objectOf, textOf } from './read.ts';
import type { Wire } from './wire.ts';

/**
 * Chat Completions for Mistral. The service rejects unknown fields, call ids other than nine letters and digits, a user
 * message directly after results, and system texts after other messages. Usage is part of every stream. Reasoning is
 * not sent back, because it is an optional part of the content here.
 */
export const mistralWire = (): Wire => {
  const wire = openaiChatWire({ ...COMPATIBLE_CHAT, reasoning: 'none' });
  return {
    ...wire,
    encode(call) {
      const encoded = wire.encode(call);
      return { ...encoded, body: fitBody(encoded.body) };
    },
  };
};

/** Mistral's names of fields that Chat Completions names differently. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['max_completion_tokens', 'max_tokens'],
  ['seed', 'random_seed'],
]);

/** Body fields that the service accepts. */
const FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'temperature',
  'top_p',
  'stop',
  'random_seed',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'stream',
]);

const fitBody = (body: JsonObject): JsonObject => {
  const fitted: JsonObject = {};
  for (const [given, value] of Object.entries(body)) {
    const name = RENAMED.get(given) ?? given;
    if (FIELDS.has(name)) fitted[name] = value;
  }
  fitted.messages = fitMessages(listOf(body.messages).map((each) => objectOf(each) ?? {}));
  return fitted;
};

/** The service requires an assistant message between results and the next user message. */
const DONE: JsonObject = { role: 'assistant', content: 'Done.' };

const fitMessages = (messages: readonly JsonObject[]): JsonObject[] => {
  const fitted = messages.filter(({ role }) => role === 'system');
  for (const message of messages) {
    if (message.role === 'system') continue;
    if (message.role === 'user' && fitted.at(-1)?.role === 'tool') fitted.push(DONE);
    fitted.push(fitMessage(message));
  }
  const last = fitted.at(-1);
  // Without this mark the service rejects a prefilled completion.
  return last?.role === 'assistant' && last.tool_calls === undefined
    ? fitted.with(-1, { ...last, prefix: true })
    : fitted;
};

const fitMessage = (message: JsonObject): JsonObject => {
  const { role, content, tool_calls, tool_call_id } = message;
  if (role === 'tool')
    return { role, tool_call_id: mistralCallId(textOf(tool_call_id) ?? ''), content: content ?? '' };
  if (role === 'user') {
    return Array.isArray(content) ? { role, content: content.map(fitPart) } : message;
  }
  const calls = listOf(tool_calls).map(fitCall);
  return { role: 'assistant', content: content ?? '', ...(calls.length > 0 && { tool_calls: calls }) };
};

const fitCall = (given: unknown): JsonObject => {
  const { id, function: called = {} } = objectOf(given) ?? {};
  return { id: mistralCallId(textOf(id) ?? ''), type: 'function', function: called };
};

const fitPart = (given: unknown): JsonObject => {
  const part = objectOf(given) ?? {};
  if (part.type === 'file') {
    const file = objectOf(part.file);
    return {
      type: 'document_url',
      document_url: textOf(file?.file_data) ?? '',
      document_name: textOf(file?.filename) ?? 'document.pdf',
    };
  }
  if (part.type !== 'input_audio') return part;
  return { type: 'input_audio', input_audio: textOf(objectOf(part.input_audio)?.data) ?? '' };
};
