import type { ContextPolicy } from '../../schema/context-policy.ts';
import type { Message } from '../../schema/message.ts';
import { estimateMessages, estimateText } from './estimate.ts';
import { findSummaries, isRaw } from './fold.ts';
import { isVisibleUser } from './transform.ts';

/**
 * Decides when a compaction is due and what it covers (agent-loop.md 12.3).
 *
 * Guarantees: pure; the range starts with the history, includes the previous summary, and ends where no call is open,
 * so every call in it has its results in it. The last message stays raw, because a request needs something to respond
 * to; with `keep_recent_raw_suffix`, so does everything from the latest visible user message on.
 * Relies on: a complete raw history of committed messages; the sequence number of a message is its position, from 1.
 * Costs: one pass over the history.
 */

const MIN_GAIN_TOKENS = 1024;

type Boundary = {
  range: { from_seq: number; to_seq: number };
  /** Last covered message. */
  boundary_message_id: string;
};

export type CompactionPlan = Boundary & {
  kind: 'compact';
  /** Messages to summarize together with `previous`; raw, including markers. */
  messages: readonly Message[];
  previous: Message | undefined;
  /** Estimated tokens of the replaced messages, as the model sees them now. */
  pre_tokens: number;
};

export type TooLittleGain = Boundary & { kind: 'skip'; reason: 'too_little_gain'; pre_tokens: number };

/** True when the estimate of the request, before it is fitted, has reached the threshold. */
export const isCompactionDue = (
  { system, messages }: { system: readonly string[]; messages: readonly Message[] },
  { autocompact_threshold: threshold }: Pick<ContextPolicy, 'autocompact_threshold'>,
): boolean =>
  threshold !== undefined &&
  system.reduce((sum, text) => sum + estimateText(text), estimateMessages(messages)) >= threshold;

type BoundaryRule = Pick<ContextPolicy, 'compaction_mode' | 'compaction_raw_suffix_messages'>;

/**
 * Returns `undefined` when nothing can be covered that was not covered or tried before.
 *
 * @param tried sequence number up to which a summary was tried without success
 */
export const planCompaction = (
  history: readonly Message[],
  rule: BoundaryRule,
  tried = 0,
): CompactionPlan | TooLittleGain | undefined => {
  const end = safeBoundary(history, latestBoundary(history, rule));
  const previous = findSummaries(history).find(({ from_seq }) => from_seq === 1);
  const covered = previous?.to_seq ?? 0;
  const last = history[end - 1];
  if (!last || end <= Math.max(covered, tried)) return undefined;
  const messages = history.slice(covered, end).filter(isRaw);
  const gain = estimateMessages(messages);
  const boundary: Boundary = { range: { from_seq: 1, to_seq: end }, boundary_message_id: last.id };
  if (gain < MIN_GAIN_TOKENS) {
    return { kind: 'skip', reason: 'too_little_gain', ...boundary, pre_tokens: gain };
  }
  const pre_tokens = gain + (previous ? estimateMessages([previous.message]) : 0);
  return { kind: 'compact', ...boundary, messages, previous: previous?.message, pre_tokens };
};

/** Maximum number of oldest messages to cover, ignoring open calls. */
const latestBoundary = (history: readonly Message[], rule: BoundaryRule): number => {
  const last = history.length - 1;
  if (rule.compaction_mode === 'compact_to_safe_frontier') return last;
  const user = history.findLastIndex(isVisibleUser);
  return Math.min(last, history.length - rule.compaction_raw_suffix_messages, user < 0 ? last : user);
};

/** The largest number of messages, up to the limit, that leaves no call without its results. */
const safeBoundary = (history: readonly Message[], limit: number): number => {
  const reach = reachOf(history);
  let safe = 0;
  let open = -1;
  for (let index = 0; index < limit; index += 1) {
    open = Math.max(open, reach.get(index) ?? index);
    if (open === index) safe = index + 1;
  }
  return safe;
};

/**
 * Maps each message with calls to the position of its last result. A result belongs to the nearest earlier message with
 * a call of its id. A call without a result counts as closed once a later user or assistant message exists.
 */
const reachOf = (history: readonly Message[]): Map<number, number> => {
  const reach = new Map<number, number>();
  const openCalls = new Map<string, number>();
  const callIndexes = new Map<string, number>();
  history.forEach(({ role, tool_calls = [], tool_call_id }, index) => {
    if (role === 'user' || role === 'assistant') openCalls.clear();
    for (const { id } of tool_calls) {
      callIndexes.set(id, index);
      openCalls.set(id, index);
    }
    if (tool_call_id === undefined) return;
    openCalls.delete(tool_call_id);
    const callIndex = callIndexes.get(tool_call_id);
    if (callIndex !== undefined) reach.set(callIndex, index);
  });
  for (const callIndex of openCalls.values()) reach.set(callIndex, history.length);
  return reach;
};
