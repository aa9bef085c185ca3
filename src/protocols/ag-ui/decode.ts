import type { DecisionInput } from '../../runtime/index.ts';
import { describeInputProblem, inputProblem } from '../../schema/input-content.ts';
import { Invalid } from '../../schema/outcome.ts';
import type { ChatInput } from '../ai-sdk/decode.ts';
import { newMessages } from '../new-messages.ts';
import { blocksOf, textBlockOf } from './content.ts';
import { answersIn, isToolResult, type ThreadTickets } from './decisions.ts';
import type { AgUiBody, AgUiMessage } from './request.ts';

/**
 * What an AG-UI request asks of a thread (chat-and-agui.md 11, 13.2). Clients send the conversation as they see it;
 * the service has the history and keeps only what is new in it.
 */

export type AgUiRequest =
  | {
      kind: 'input';
      /** None, and no decisions either: the thread runs again on the history that it has. */
      messages: ChatInput[];
      decisions: DecisionInput[];
      /** For the encoder: calls whose results the client has. */
      answered: string[];
    }
  /** Only answers to what does not wait any more: there is nothing to run. */
  | { kind: 'stale' };

/** Tickets: of the open run, or of the latest one when none is open. */
export type AgUiThread = ThreadTickets & {
  /** Is there a message of this id in the history, or does one wait to join it? */
  has(message_id: string): boolean;
  /** Nothing has run in it: what the client remembers of the assistant is its history. */
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
      const blocks = blocksOf(content);
      if (blocks.length === 0) return [];
      const problem = inputProblem(blocks);
      if (problem) throw new Invalid(`message '${id ?? ''}', ${describeInputProblem(problem)}`);
      return [{ ...named, role, content: blocks }];
    }
    case 'system':
    case 'developer': {
      const text = textBlockOf(content);
      return text.length > 0 ? [{ ...named, role: 'system', content: text }] : [];
    }
    case 'assistant': {
      const text = fresh ? textBlockOf(content) : [];
      const isSaid = text.some((block) => block.type === 'text' && block.text !== '');
      return isSaid ? [{ ...named, role, content: text }] : [];
    }
    default:
      return [];
  }
};

const withContext = ({ said }: AgUiBody, messages: ChatInput[]): ChatInput[] =>
  said ? [said, ...messages] : messages;
