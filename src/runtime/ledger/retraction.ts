import type { Message } from '../../schema/message.ts';
import type { MessageRow, Retraction } from '../../store/index.ts';

/**
 * Returns the retractions of a marker: the call in the nearest earlier message that requested it, the results of the
 * call, and the marker itself. A message that contains only refused calls is hidden entirely.
 */
export const retractedBy = (history: readonly Message[], { seq, message }: MessageRow): Retraction[] => {
  const { tool_call_id: call_id, role, visibility } = message;
  if (role !== 'tool' || visibility !== 'internal' || call_id === undefined) return [];
  const requestIndex = history.findLastIndex(({ tool_calls }) =>
    tool_calls?.some(({ id }) => id === call_id),
  );
  const results = history.flatMap((other, index): Retraction[] =>
    index > requestIndex &&
    index < seq - 1 &&
    other.tool_call_id === call_id &&
    other.visibility === undefined
      ? [{ seq: index + 1, external: true, ...runOf(other) }]
      : [],
  );
  const marker = { seq, external: false, ...runOf(message) };
  const request = history[requestIndex];
  if (!request) return [...results, marker];
  const lost: Retraction = { seq: requestIndex + 1, call_id };
  if (!isRefused(request, history.slice(requestIndex + 1))) return [lost, ...results, marker];
  return [lost, { seq: requestIndex + 1, external: true, ...runOf(request) }, ...results, marker];
};

const isRefused = ({ content, tool_calls = [] }: Message, later: readonly Message[]): boolean => {
  if (content.length > 0) return false;
  const refused = new Set(later.map(({ metadata, tool_call_id }) => metadata?.denied && tool_call_id));
  return tool_calls.every(({ id }) => refused.has(id));
};

const runOf = ({ metadata }: Message) => metadata?.run_id !== undefined && { run_id: metadata.run_id };
