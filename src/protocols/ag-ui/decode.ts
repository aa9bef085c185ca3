import type { DecisionInput } from '../../runtime/index.ts';
import { describeInputProblem, inputProblem } from '../../schema/input-content.ts';
import { Invalid } from '../../schema/outcome.ts';
import type { ChatInput } from '../ai-sdk/decode.ts';
import { newMessages } from '../new-messages.ts';
import { toBlocks, toTextBlock } from './content.ts';
import { answersIn, isToolResult, type ThreadTickets } from './decisions.ts';
import type { AgUiBody, AgUiMessage } from './request.ts';

/**
 * Decodes the intent of an AG-UI request (chat-and-agui.md 11, 13.2). Clients send the whole conversation; the service
 * has the history and stores only new messages.
 */

export type AgUiRequest =
  | {
      kind: 'input';
      /** If there are neither messages nor decisions, the thread runs again on its existing history. */
      messages: ChatInput[];
      decisions: DecisionInput[];
      /** Calls whose results the client has, for the encoder. */
      answered: string[];
    }
  /** The request contains only results for calls that are no longer pending, so no run is needed. */
  | { kind: 'stale' };

/** The tickets belong to the open run, or to the latest one if none is open. */
export type AgUiThread = ThreadTickets & {
  /** Returns whether a message with this id is in the history or pending. */
  has(message_id: string): boolean;
  /** Whether no run has used the thread, so that the assistant messages of the client become its history. */
  fresh: boolean;
};

/** @throws Invalid, Conflict */
export const decodeAgUi = (body: AgUiBody, thread: AgUiThread): AgUiRequest => {
  const { messages, resume } = body;
  const unseen = newMessages(messages, thread.has);
  const answers = answersIn({ unseen, messages }, resume, thread);
  const converted = unseen.flatMap((message) => inputOf(message, thread.fresh));
  if (converted.length > 0) return { kind: 'input', messages: withContext(body, converted), ...answers };
  if (answers.decisions.length > 0) return { kind: 'input', messages: [], ...answers };
  if (resume.length > 0) return { kind: 'stale' };
  if (endsWithKnownQuestion(messages, thread)) {
    return { kind: 'input', messages: withContext(body, []), ...answers };
  }
  if (unseen.some(isToolResult)) return { kind: 'stale' };
  throw new Invalid('at least one message is required');
};

const endsWithKnownQuestion = (messages: readonly AgUiMessage[], { has }: AgUiThread): boolean => {
  const last = messages.at(-1);
  return last?.role === 'user' && !!last.id && has(last.id);
};

const inputOf = ({ role, id, content }: AgUiMessage, fresh: boolean): ChatInput[] => {
  const named = id ? { id } : {};
  switch (role) {
    case 'user': {
      const blocks = toBlocks(content);
      if (blocks.length === 0) return [];
      const problem = inputProblem(blocks);
      if (problem) throw new Invalid(`message '${id ?? ''}', ${describeInputProblem(problem)}`);
      return [{ ...named, role, content: blocks }];
    }
    case 'system':
    case 'developer': {
      const text = toTextBlock(content);
      return text.length > 0 ? [{ ...named, role: 'system', content: text }] : [];
    }
    case 'assistant': {
      const text = fresh ? toTextBlock(content) : [];
      const hasText = text.some((block) => block.type === 'text' && block.text !== '');
      return hasText ? [{ ...named, role, content: text }] : [];
    }
    default:
      return [];
  }
};

const withContext = ({ frontend }: AgUiBody, messages: ChatInput[]): ChatInput[] =>
  frontend ? [frontend, ...messages] : messages;
