import type { Message } from '../schema/message.ts';
import type { MessageRow, Retraction } from '../store/index.ts';

/**
 * A marker takes its call and the results of it out of the view: those of the nearest earlier message that asks
 * for a call of this id, and the marker itself. Nothing is left of a message that only asked for calls that were
 * refused.
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
  const asking = history[asked];
  if (!asking) return [...results, marker];
  const lost: Retraction = { seq: asked + 1, call_id };
  if (!isRefused(asking, history.slice(asked + 1))) return [lost, ...results, marker];
  return [lost, { seq: asked + 1, external: true, ...runOf(asking) }, ...results, marker];
};

const isRefused = ({ content, tool_calls = [] }: Message, later: readonly Message[]): boolean => {
  if (content.length > 0) return false;
  const refused = new Set(later.map(({ metadata, tool_call_id }) => metadata?.denied && tool_call_id));
  return tool_calls.every(({ id }) => refused.has(id));
};

const runOf = ({ metadata }: Message) => metadata?.run_id !== undefined && { run_id: metadata.run_id };
