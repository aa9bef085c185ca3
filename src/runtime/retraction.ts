import type { Message } from '../schema/message.ts';
import type { MessageRow, Retraction } from '../store/index.ts';

/**
 * A marker takes its call and the results of it out of the view: those of the nearest earlier message that asks
 * for a call of this id, and the marker itself.
 */
export const retractedBy = (history: readonly Message[], { seq, message }: MessageRow): Retraction[] => {
  const { tool_call_id: call_id, role, visibility } = message;
  if (role !== 'tool' || visibility !== 'internal' || call_id === undefined) return [];
  const asked = history.findLastIndex(({ tool_calls }) => tool_calls?.some(({ id }) => id === call_id));
  const results = history.flatMap((other, index): Retraction[] =>
    index > asked && index < seq - 1 && other.tool_call_id === call_id && other.visibility === undefined
      ? [{ seq: index + 1, external: true, ...runOf(other) }]
      : [],
  );
  const marker = { seq, external: false, ...runOf(message) };
  return [...(asked < 0 ? [] : [{ seq: asked + 1, call_id }]), ...results, marker];
};

const runOf = ({ metadata }: Message) => metadata?.run_id !== undefined && { run_id: metadata.run_id };
