import type { FileUIPart, UIMessage } from 'ai';
import type { InputBlock } from '../../schema/message.ts';
import { blockOf } from '../chat/attachments.ts';
import { number, object, text } from '../data/guard.ts';
import { pathOf, send } from '../data/request.ts';
import { type SaidMessage, startRun, userMessage } from '../run-records/control.ts';
import { rowsOf } from '../thread-messages/conversation.ts';
import { type Message, MessagePage } from '../thread-messages/messages.ts';

/** Forks a conversation at a message. The original stays unchanged; the fork is a separate thread below it. */

/** The repeatable part of a message. Tool calls and their results belong to the run that made them. */
const repeated = ({ role, parts }: UIMessage): SaidMessage | undefined => {
  const content = parts.flatMap((part): InputBlock[] => {
    if (part.type === 'text' && part.text !== '') return [{ type: 'text', text: part.text }];
    return part.type === 'file' && role === 'user' ? [blockOf(part)] : [];
  });
  return content.length === 0 ? undefined : { role, content };
};

/** The visible messages up to and including this one, ending with the last one of the user. */
export const messagesUpTo = (messages: readonly Message[], seq: number): UIMessage[] => {
  const visible = messages.filter((message) => message.seq <= seq && message.visibility === undefined);
  const shown = rowsOf(visible).map(({ message }) => message);
  return shown.slice(0, shown.findLastIndex(({ role }) => role === 'user') + 1);
};

const PAGE = 200;

/** Number of messages that one request can repeat. */
export const MOST_REPEATED = 10_000;

/** Reads the messages of a thread up to one. */
export const readUpTo = async (threadId: string, seq: number): Promise<Message[]> => {
  const path = pathOf`/v1/threads/${threadId}/messages`;
  const found: Message[] = [];
  let after = 0;
  while (found.length < MOST_REPEATED) {
    const page = await send({ path, query: { after, before: seq + 1, limit: PAGE } }, MessagePage);
    found.push(...page.messages);
    const last = page.messages.at(-1);
    if (!last || page.messages.length < PAGE) return found;
    after = last.seq;
  }
  return found;
};

const Made = object({ id: text, metadata: object({ created_at: number }) });

export type Fork = {
  threadId: string;
  agentId: string;
  /** The messages that both conversations have. */
  before: readonly UIMessage[];
  /** The first message that only the fork has. */
  said: string;
  files: readonly FileUIPart[];
};

/** @returns the run that responds in the new thread */
export const forkThread = async (fork: Fork): Promise<{ run_id: string; thread_id: string }> => {
  const { threadId, agentId, before, said, files } = fork;
  const body = { parent_thread_id: threadId };
  const { id } = await send({ method: 'POST', path: '/v1/threads', body }, Made);
  const messages = [
    ...before.flatMap((message) => repeated(message) ?? []),
    userMessage(said, files.map(blockOf)),
  ];
  return startRun({ agentId, threadId: id, messages });
};
