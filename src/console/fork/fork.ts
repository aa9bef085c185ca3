import type { UIMessage } from 'ai';
import { textOf } from '../chat/blocks.ts';
import { number, object, text } from '../data/guard.ts';
import { pathOf, send } from '../data/request.ts';
import { startRun } from '../run-records/control.ts';
import { type Message, MessagePage, textIn } from '../thread-messages/messages.ts';

/** Forks a conversation at a message. The original stays unchanged; the fork is a separate thread below it. */

export type Line = { role: 'user' | 'assistant' | 'system'; content: string };

const ROLES = ['user', 'assistant', 'system'] as const;

/** The repeatable part of a message. Tool calls and their results belong to the run that made them. */
const lineOf = (message: Message): Line | undefined => {
  const role = ROLES.find((known) => known === message.role);
  const content = textIn(message);
  return role && content !== '' && message.visibility === undefined ? { role, content } : undefined;
};

/** The messages up to and including this one, ending with the last one of the user. */
export const linesUpTo = (messages: readonly Message[], seq: number): Line[] => {
  const lines = messages.filter((message) => message.seq <= seq).flatMap((message) => lineOf(message) ?? []);
  const last = lines.findLastIndex(({ role }) => role === 'user');
  return lines.slice(0, last + 1);
};

/** The texts of an open chat up to a message, which another text replaces. */
export const linesBranching = (
  messages: readonly UIMessage[],
  messageId: string,
  content: string,
): Line[] => {
  const at = messages.findIndex(({ id }) => id === messageId);
  const before = messages.slice(0, Math.max(0, at)).flatMap((message): Line[] => {
    const said = textOf(message);
    return said === '' ? [] : [{ role: message.role, content: said }];
  });
  return [...before, { role: 'user', content }];
};

const PAGE = 200;

/** Longer conversations cannot be forked with one request. */
export const MOST_LINES = 2000;

/** Reads all messages of a thread up to one. */
export const readUpTo = async (threadId: string, seq: number): Promise<Message[]> => {
  const path = pathOf`/v1/threads/${threadId}/messages`;
  const found: Message[] = [];
  let after = 0;
  while (found.length < MOST_LINES) {
    const page = await send({ path, query: { after, before: seq + 1, limit: PAGE } }, MessagePage);
    found.push(...page.messages);
    const last = page.messages.at(-1);
    if (!last || page.messages.length < PAGE) return found;
    after = last.seq;
  }
  return found;
};

const Made = object({ id: text, metadata: object({ created_at: number }) });

/** @returns the run that responds in the new thread */
export const forkThread = async (
  threadId: string,
  agentId: string,
  lines: readonly Line[],
): Promise<{ run_id: string; thread_id: string }> => {
  const body = { parent_thread_id: threadId };
  const { id } = await send({ method: 'POST', path: '/v1/threads', body }, Made);
  return startRun({ agentId, threadId: id, messages: lines });
};
