import { type Message, textOf } from '../../schema/message.ts';
import { estimateMessage } from './estimate.ts';

/** Replaces long tool results in a request by a preview (agent-loop.md 12.2); stored results are not changed. */

export type ShorteningLimits = {
  threshold_tokens: number;
  preview_max_chars: number;
  preview_max_lines: number;
};

/** Returns other messages and short results unchanged. */
export const shortenResult = (message: Message, limits: ShorteningLimits): Message => {
  if (message.role !== 'tool') return message;
  const original = estimateMessage(message);
  if (original < limits.threshold_tokens) return message;
  const text = textOf(message.content);
  const preview = previewOf(text, limits);
  if (preview.length === text.length) return message;
  const marker = `[Content compacted: original ~${original} tokens, showing first ${preview.length} chars]`;
  const files = message.content.filter(({ type }) => type !== 'text');
  return { ...message, content: [{ type: 'text', text: `${preview}\n${marker}` }, ...files] };
};

const previewOf = (text: string, { preview_max_chars, preview_max_lines }: ShorteningLimits): string => {
  let end = Math.min(text.length, preview_max_chars);
  // Half of a surrogate pair is not a character.
  if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).split('\n', preview_max_lines).join('\n');
};
