import type { Message } from '../../schema/message.ts';

/**
 * The points at which a history can be divided (runtime.md 3.5): a message with calls is copied with all of their results, or
 * not at all. A suspended call has a placeholder first and its result later, so a step lasts until the last result.
 */
export type ForkPoints = {
  /** Whether a fork can end with this message; 0 is the empty history. */
  has(seq: number): boolean;
  /** Returns the last such point at or before this message. */
  before(seq: number): number;
  /** Returns the first such point at or after this message. */
  after(seq: number): number | undefined;
};

/** @param open ids of calls that wait for a decision, and will have another result */
export const forkPointsOf = (history: readonly Message[], open: ReadonlySet<string>): ForkPoints => {
  const isInside: boolean[] = new Array(history.length + 1).fill(false);
  for (const { from, to } of stepsIn(history, open)) isInside.fill(true, from, to);
  const has = (seq: number): boolean => isInside[seq] === false;
  return {
    has,
    before(seq) {
      let point = seq;
      while (point > 0 && !has(point)) point -= 1;
      return point;
    },
    after(seq) {
      const found = isInside.indexOf(false, seq);
      return found < 0 ? undefined : found;
    },
  };
};

/** `from` is the number of the message with the calls, `to` that of the last result. */
type Step = { from: number; to: number };

/** A result belongs to the nearest earlier message with a call of its id. */
const stepsIn = (history: readonly Message[], open: ReadonlySet<string>): Step[] => {
  const steps: Step[] = [];
  const askedBy = new Map<string, Step>();
  for (const [index, { tool_calls = [], tool_call_id }] of history.entries()) {
    const step = { from: index + 1, to: index + 1 };
    for (const { id } of tool_calls) askedBy.set(id, step);
    if (tool_calls.length > 0) steps.push(step);
    const asked = tool_call_id === undefined ? undefined : askedBy.get(tool_call_id);
    if (asked) asked.to = index + 1;
  }
  for (const [id, step] of askedBy) if (open.has(id)) step.to = history.length + 1;
  return steps;
};
