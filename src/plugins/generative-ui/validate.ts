import type { z } from 'zod';
import { type Json, ToolError } from '../../tools/tool.ts';
import { A2UI_KEYS, A2UI_MESSAGES, type A2uiKey } from './a2ui.ts';

/** Validates the arguments of `render_a2ui` and reports all faults at once (agent-loop.md 14.5). */

const NO_KEY = `expected at least one A2UI message key (${A2UI_KEYS.slice(0, -1).join(', ')}, or ${A2UI_KEYS.at(-1)})`;

type JsonObject = { [key: string]: Json };

/**
 * Returns the number of messages in the arguments.
 *
 * @throws ToolError with all faults of all messages
 */
export const countMessages = (args: Json): number => {
  const messages = messagesOf(args);
  const faults = messages.flatMap((message, index) =>
    faultsOf(message).map((fault) => `message[${index}]: ${fault}`),
  );
  if (faults.length > 0) throw failed(faults.join('; '));
  return messages.length;
};

const messagesOf = (args: Json): Json[] => {
  if (!isObject(args)) throw new ToolError('invalid_arguments', NO_KEY);
  const { messages, ...others } = args;
  if (messages === undefined) {
    const message = wrapped(args);
    if (!A2UI_KEYS.some((key) => Object.hasOwn(message, key)))
      throw new ToolError('invalid_arguments', NO_KEY);
    return [message];
  }
  if (!Array.isArray(messages) || messages.length === 0) throw failed('messages must be a non-empty array');
  const beside = Object.keys(others);
  if (beside.length > 0) throw failed(`no other key is allowed with messages, got ${beside.join(', ')}`);
  return messages.map((message) => (isObject(message) ? wrapped(message) : message));
};

const failed = (faults: string) => new ToolError('invalid_arguments', `A2UI validation failed: ${faults}`);

/** Fields that only one kind of message has; they identify the missing wrapper key. */
const IDENTIFYING_FIELDS: readonly [field: string, key: A2uiKey][] = [
  ['components', 'surfaceUpdate'],
  ['contents', 'dataModelUpdate'],
  ['root', 'beginRendering'],
];

const wrapped = (message: JsonObject): JsonObject => {
  if (A2UI_KEYS.some((key) => Object.hasOwn(message, key)) || !Object.hasOwn(message, 'surfaceId'))
    return message;
  const identified = IDENTIFYING_FIELDS.find(([field]) => Object.hasOwn(message, field));
  if (identified) return { [identified[1]]: message };
  // Any other field indicates an incomplete message of another kind, which must not delete the surface.
  return Object.keys(message).length === 1 ? { deleteSurface: message } : message;
};

const faultsOf = (message: Json): string[] => {
  if (!isObject(message)) return ['must be an object'];
  const keys = A2UI_KEYS.filter((key) => Object.hasOwn(message, key));
  const unknown = Object.keys(message).filter((key) => !keys.some((known) => known === key));
  const [key, ...more] = keys;
  if (key === undefined) return [NO_KEY];
  return [
    ...(more.length > 0 ? [`expected exactly one message key, got ${keys.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`unknown key ${unknown.join(', ')}`] : []),
    ...keys.flatMap(
      (key) => A2UI_MESSAGES[key].safeParse(message[key]).error?.issues.map(describeIssue(key)) ?? [],
    ),
  ];
};

const describeIssue =
  (key: A2uiKey) =>
  ({ path, message }: z.core.$ZodIssue): string =>
    `${[key, ...path].join('.')}: ${message}`;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
