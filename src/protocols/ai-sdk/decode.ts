import type { DecisionInput, Rewind, UserMessage } from '../../runtime/index.ts';
import { describeInputProblem, inputProblem } from '../../schema/input-content.ts';
import type { ContentBlock, Message } from '../../schema/message.ts';
import { Invalid } from '../../schema/outcome.ts';
import type { Run } from '../../schema/run.ts';
import { newMessages } from '../new-messages.ts';
import { type Attachments, createAttachments } from './attachments.ts';
import type { ChatBody, ChatMessage } from './request.ts';
import { type ThreadTickets, type ToolResponse, toDecisions, toolResponses } from './tool-responses.ts';

/**
 * Decodes the intent of a chat request (chat-and-agui.md 3.2). Clients send the whole conversation; the service has the
 * history and stores only new messages.
 */

/** A message for the history, with the id of the client if it has one. */
export type ChatInput = UserMessage & { id?: string; visibility?: 'internal' };

export type ChatRequest =
  | { kind: 'input'; messages: ChatInput[]; decisions: DecisionInput[]; rewind?: Rewind }
  /** The thread already has the message, so the client needs only its response. */
  | { kind: 'repeated'; message_id: string; run: Run }
  /**
   * The request contains only responses to calls that are no longer pending, so there is nothing to do or to return.
   */
  | { kind: 'stale' };

/** The tickets belong to the open run, or to the latest one if none is open. */
export type ThreadView = ThreadTickets & {
  /** Returns whether a message with this id is in the history or pending. */
  has(message_id: string): boolean;
  /** Returns the id of the last message that clients see. */
  last?(): string | undefined;
  /** Returns the id of the last message of a user that clients see; pending messages are later than the history. */
  lastQuestion?(): string | undefined;
  /** Returns the current version of a message, which an edit may have replaced. */
  current?(message_id: string): Message | undefined;
  /** Returns the run that has consumed a message or will consume it. */
  runOf(message_id: string): Run | undefined;
};

/** @throws Invalid, Conflict */
export const decodeChat = (body: ChatBody, thread: ThreadView): ChatRequest => {
  const { messages } = body;
  const rewound = rewoundQuestion(body, thread);
  if (rewound) return rewound;
  const responses = toolResponses(messages, body.continues);
  const decisions = toDecisions(responses, thread);
  const converted = convert(newMessages(messages, thread.has));
  if (converted.length > 0) return { kind: 'input', messages: withContext(body, converted), decisions };
  if (decisions.length > 0) return { kind: 'input', messages: [], decisions };
  const repeated = repeatedQuestion(body, thread);
  if (repeated) return repeated;
  if (responses.length > 0) return { kind: 'stale' };
  throw nothingNew(messages);
};

export const nothingNew = (messages: readonly ChatMessage[]): Invalid =>
  new Invalid(`no new messages or interaction responses${whyNothing(messages)}`);

const whyNothing = (messages: readonly ChatMessage[]): string => {
  const old = messages.findIndex(({ content, parts }) => content !== undefined && parts.length === 0);
  return old < 0
    ? ''
    : `: messages[${old}] has 'content', which is not read; texts are 'parts', such as {"type":"text","text":"Hi"}`;
};

/**
 * Handles a client that regenerates a response (chat-and-agui.md 3.6) or has edited a message: the conversation is
 * rewound to it. An edited message is a new one that replaces the old one; an edit without changes only regenerates the
 * response. The official client names the last message also when it sends the conversation again, so the last question
 * without changes is a repeated one: `regenerate-message` is the request for another response to it.
 */
const rewoundQuestion = (body: ChatBody, thread: ThreadView): ChatRequest | undefined => {
  const { regenerate, edits, messages } = body;
  const place = edits ?? (regenerate ? placeOf(messages, thread) : undefined);
  const current = place?.id ? thread.current?.(place.id) : undefined;
  if (!place?.id || !current) return undefined;
  const edited = edits && convert([edits])[0];
  if (edited && JSON.stringify(edited.content) !== JSON.stringify(current.content)) {
    const { id: _old, ...message } = edited;
    return {
      kind: 'input',
      messages: withContext(body, [{ ...message, replaces: place.id }]),
      decisions: [],
      rewind: { message_id: current.id, drops: true },
    };
  }
  const isLastQuestion = current.id === thread.lastQuestion?.();
  const repeated = isLastQuestion && !regenerate ? repeatOf(current.id, thread) : undefined;
  const rewind = { message_id: current.id, drops: false };
  return repeated ?? { kind: 'input', messages: [], decisions: [], rewind };
};

/** Returns the last message, or the last user message if the last one is a response whose id is not stored. */
const placeOf = (messages: readonly ChatMessage[], thread: ThreadView): ChatMessage | undefined => {
  const last = messages.at(-1);
  const isKnown = last?.role === 'user' || (last?.id && thread.current?.(last.id));
  return isKnown ? last : messages.findLast(({ role }) => role === 'user');
};

/** Handles a client that repeats a message after a failure, or because the response never reached it. */
const repeatedQuestion = (
  { regenerate, messages }: ChatBody,
  thread: ThreadView,
): ChatRequest | undefined => {
  const question = messages.at(-1);
  if (question?.role !== 'user' || !question.id) return undefined;
  const repeated = repeatOf(question.id, thread);
  return regenerate && repeated?.kind === 'repeated' ? undefined : repeated;
};

/** A message without a response in the history runs again; a response that exists is kept. */
const repeatOf = (message_id: string, thread: ThreadView): ChatRequest | undefined => {
  const run = thread.runOf(message_id);
  const isLast = message_id === thread.last?.();
  if (isLast && run?.status === 'done') return { kind: 'input', messages: [], decisions: [] };
  return run && { kind: 'repeated', message_id, run };
};

/**
 * Decodes a request with a whole conversation of which nothing is stored (chat-and-agui.md 10).
 * @throws Invalid
 */
export const decodeTranscript = (body: ChatBody): { messages: ChatInput[]; responses: ToolResponse[] } => {
  const { messages } = body;
  const responses = toolResponses(messages);
  const converted = convert(messages, { answers: true });
  if (converted.length === 0 && responses.length === 0) {
    throw new Invalid(`no preview messages or interaction responses${whyNothing(messages)}`);
  }
  return { messages: withContext(body, converted), responses };
};

const withContext = ({ frontend }: ChatBody, messages: ChatInput[]): ChatInput[] =>
  frontend ? [frontend, ...messages] : messages;

const convert = (messages: readonly ChatMessage[], { answers = false } = {}): ChatInput[] => {
  const attachments = createAttachments();
  return messages.flatMap((message): ChatInput[] => {
    const role = roleOf(message.role, answers);
    const content = role ? CONTENT[role](message.parts, attachments) : [];
    if (!role || content.length === 0) return [];
    const problem = role === 'user' ? inputProblem(content) : undefined;
    if (problem) throw new Invalid(`message '${message.id ?? ''}', ${describeInputProblem(problem)}`);
    return [{ ...(message.id && { id: message.id }), role, content }];
  });
};

const roleOf = (role: string, answers: boolean): UserMessage['role'] | undefined => {
  if (role === 'user' || role === 'system') return role;
  return answers && role === 'assistant' ? role : undefined;
};

const textOf = (parts: readonly unknown[]): ContentBlock[] => {
  const texts = parts.flatMap((part) => blockOf(part) ?? []);
  return texts.length === 0 ? [] : [{ type: 'text', text: texts.map(({ text }) => text).join('') }];
};

/** Responses were created by the service, so files in them are not attachments. */
const CONTENT: Record<
  UserMessage['role'],
  (parts: readonly unknown[], files: Attachments) => ContentBlock[]
> = {
  user: (parts, files) => parts.flatMap((part) => (isFile(part) ? [files.add(part)] : (blockOf(part) ?? []))),
  system: textOf,
  assistant: textOf,
};

const isFile = (part: unknown): part is object =>
  typeof part === 'object' && part !== null && 'type' in part && part.type === 'file';

const blockOf = (part: unknown): { type: 'text'; text: string } | undefined => {
  const isText = typeof part === 'object' && part !== null && 'type' in part && part.type === 'text';
  return isText && 'text' in part && typeof part.text === 'string'
    ? { type: 'text', text: part.text }
    : undefined;
};
