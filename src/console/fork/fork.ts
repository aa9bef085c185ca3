import { number, object, text } from '../data/guard.ts';
import { pathOf, send } from '../data/request.ts';
import { type Message, MessagePage, textIn } from '../history/messages.ts';
import { startRun } from '../runs/control.ts';

/**
 * Another conversation that begins as one did, up to a message, and goes on in another way. What was there before stays
 * as it is: the fork is a thread of its own below it.
 */

export type Line = { role: 'user' | 'assistant' | 'system'; content: string };

const ROLES = ['user', 'assistant', 'system'] as const;

/** What of a message can be said again: calls and their results belong to the run that made them. */
const lineOf = (message: Message): Line | undefined => {
  const role = ROLES.find((known) => known === message.role);
  const content = textIn(message);
  return role && content !== '' && message.visibility === undefined ? { role, content } : undefined;
};

/** Up to this message, that included; it ends with what a user asked. */
export const linesUpTo = (messages: readonly Message[], seq: number): Line[] => {
  const lines = messages.filter((message) => message.seq <= seq).flatMap((message) => lineOf(message) ?? []);
  const last = lines.findLastIndex(({ role }) => role === 'user');
  return lines.slice(0, last + 1);
};

const PAGE = 200;

/** Longer conversations cannot be told again at once. */
export const MOST_LINES = 2000;

/** All of a thread up to a message. */
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

/** @returns the run that answers in the new conversation */
export const forkThread = async (
  threadId: string,
  agentId: string,
  lines: readonly Line[],
): Promise<{ run_id: string; thread_id: string }> => {
  const body = { parent_thread_id: threadId };
  const { id } = await send({ method: 'POST', path: '/v1/threads', body }, Made);
  return startRun({ agentId, threadId: id, messages: lines });
};
