import type { ContextPolicy } from '../../schema/context-policy.ts';
import type { Message } from '../../schema/message.ts';
import { estimateMessages, estimateText } from './estimate.ts';
import { isRaw, summariesOf } from './fold.ts';
import { isVisibleUser } from './transform.ts';

/**
 * When a compaction is due and what it covers (agent-loop.md 12.3).
 *
 * Guarantees: pure; the range begins where the history does, takes in the summary before it, and ends where no call
 * is open: every call inside has its results inside. The last message stays raw, a request needs something to
 * answer; with `keep_recent_raw_suffix` so does everything from the latest visible user message on.
 * Relies on: a whole raw history of committed messages; the sequence number of a message is its position, from 1.
 * Costs: one pass over the history.
 */

const MIN_GAIN_TOKENS = 1024;

type Boundary = {
  range: { from_seq: number; to_seq: number };
  /** The last message that is covered. */
  boundary_message_id: string;
};

export type CompactionPlan = Boundary & {
  kind: 'compact';
  /** What must be summarized beside the previous summary; raw, markers included. */
  messages: readonly Message[];
  previous: Message | undefined;
  /** Estimate of what the new summary replaces, as the model sees it now. */
  pre_tokens: number;
};

export type TooLittleGain = Boundary & { kind: 'skip'; reason: 'too_little_gain'; pre_tokens: number };

/** The estimate of a request, before it is fitted, has reached the threshold. */
export const isCompactionDue = (
  { system, messages }: { system: readonly string[]; messages: readonly Message[] },
  { autocompact_threshold: threshold }: Pick<ContextPolicy, 'autocompact_threshold'>,
): boolean =>
  threshold !== undefined &&
  system.reduce((sum, text) => sum + estimateText(text), estimateMessages(messages)) >= threshold;

type BoundaryRule = Pick<ContextPolicy, 'compaction_mode' | 'compaction_raw_suffix_messages'>;

/**
 * `undefined`: there is nothing to cover that was not covered or tried before.
 *
 * @param tried sequence number up to which a summary was tried in vain
 */
export const planCompaction = (
  history: readonly Message[],
  rule: BoundaryRule,
  tried = 0,
): CompactionPlan | TooLittleGain | undefined => {
  const end = safeBoundary(history, latestBoundary(history, rule));
  const previous = summariesOf(history).find(({ from_seq }) => from_seq === 1);
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

/** How many of the oldest messages may be covered, calls aside. */
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
 * The position of the last result of each message with calls. A result belongs to the nearest earlier message that
 * asks for a call of its id. A call that never got one is over as soon as somebody spoke after it.
 */
const reachOf = (history: readonly Message[]): Map<number, number> => {
  const reach = new Map<number, number>();
  const openCalls = new Map<string, number>();
  const askedAt = new Map<string, number>();
  history.forEach(({ role, tool_calls = [], tool_call_id }, index) => {
    if (role === 'user' || role === 'assistant') openCalls.clear();
    for (const { id } of tool_calls) {
      askedAt.set(id, index);
      openCalls.set(id, index);
    }
    if (tool_call_id === undefined) return;
    openCalls.delete(tool_call_id);
    const asked = askedAt.get(tool_call_id);
    if (asked !== undefined) reach.set(asked, index);
  });
  for (const asked of openCalls.values()) reach.set(asked, history.length);
  return reach;
};
