import type { InferenceRequest } from '../../models/model.ts';
import type { ContextPolicy } from '../../schema/context-policy.ts';
import type { Message } from '../../schema/message.ts';
import { estimateMessage, estimateText, estimateTools } from './estimate.ts';
import { isContextMessage } from './placed.ts';
import { type ShorteningLimits, shortenResult } from './shorten.ts';

/**
 * Fits a request into the context window (agent-loop.md 12.2).
 *
 * Guarantees: pure; the order is kept; a call and its results are kept or dropped together; system messages, context
 * messages, the latest visible user message and the last `min_recent_messages` are kept, even if they do not fit. Of
 * the rest, every dropped message is older than every kept one.
 * Relies on: a history in which the results of a call directly follow it (`modelHistory` of the loop).
 * Costs: one pass to estimate, one to drop; the messages themselves are shared.
 */

export type Fitted = Pick<InferenceRequest, 'system' | 'messages' | 'tools'>;

export const transformMessages = (
  { system, messages, tools }: Fitted,
  policy: ContextPolicy,
  limits: ShorteningLimits,
): readonly Message[] => {
  const shortened = messages.map((message) => shortenResult(message, limits));
  const room = policy.max_context_tokens - policy.max_output_tokens - estimateTools(tools);
  const fixed = system.reduce((sum, text) => sum + estimateText(text), 0);
  return dropOldest(shortened, room - fixed, policy.min_recent_messages);
};

/** A message, together with the results of its calls. */
type Exchange = { messages: Message[]; tokens: number; stays: boolean };

const dropOldest = (messages: readonly Message[], room: number, recent: number): readonly Message[] => {
  const exchanges = exchangesOf(messages, stayingOf(messages, recent));
  let excess = exchanges.reduce((sum, { tokens }) => sum + tokens, 0) - room;
  if (excess <= 0) return messages;
  return exchanges.flatMap(({ messages: kept, tokens, stays }) => {
    if (stays || excess <= 0) return kept;
    excess -= tokens;
    return [];
  });
};

const stayingOf = (messages: readonly Message[], recent: number): Set<Message> => {
  const latest = messages.findLast(isVisibleUser);
  const history = messages.filter((message) => message.role !== 'system' && !isContextMessage(message));
  const last = recent === 0 ? [] : history.slice(-recent);
  return new Set(latest ? [latest, ...last] : last);
};

export const isVisibleUser = ({ role, visibility }: Message): boolean =>
  role === 'user' && visibility === undefined;

const exchangesOf = (messages: readonly Message[], staying: ReadonlySet<Message>): Exchange[] => {
  const exchanges: Exchange[] = [];
  for (const message of messages) {
    const tokens = estimateMessage(message);
    const stays = message.role === 'system' || isContextMessage(message) || staying.has(message);
    const open = message.role === 'tool' ? exchanges.at(-1) : undefined;
    if (!open) {
      exchanges.push({ messages: [message], tokens, stays });
      continue;
    }
    open.messages.push(message);
    open.tokens += tokens;
    open.stays ||= stays;
  }
  return exchanges;
};
