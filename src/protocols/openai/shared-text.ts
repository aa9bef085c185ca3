import type { MessageItem, OutputItem, OutputText } from './output.ts';

/**
 * JSON of items whose text is encoded once: the events that end a message contain its text three times in a row, and the
 * last event of the response contains it again.
 *
 * Guarantees: the JSON is that of `JSON.stringify`.
 * Cost: the last encoded text is retained.
 */

/**
 * Returns the JSON of something that contains the item, with the text of the item.
 *
 * @param encode returns the JSON for an item, or for its equal without text; no text of the client precedes the item in
 * it unescaped
 */
export const encodeWithText = (item: OutputItem, encode: (item: OutputItem) => string): string => {
  const part = item.type === 'message' ? longPart(item) : undefined;
  if (item.type !== 'message' || !part) return encode(item);
  const json = encode({ ...item, content: [{ ...part, text: '' }] });
  return replaced(json, '"text":""', `"text":${jsonOf(part.text)}`);
};

export const encodeItem = (item: OutputItem): string => encodeWithText(item, JSON.stringify);

/** Shorter texts cost less than their replacement. */
const LEAST = 256;
/** Longer texts are not retained. */
const MOST = 65_536;

const longPart = ({ content }: MessageItem): OutputText | undefined => {
  const [part] = content;
  if (content.length !== 1 || part?.type !== 'output_text') return undefined;
  return part.text.length >= LEAST && part.text.length <= MOST ? part : undefined;
};

/** Replaces the first occurrence. Quotation marks within texts are escaped, so only a field can match. */
const replaced = (json: string, field: string, value: string): string => {
  const start = json.indexOf(field);
  return json.slice(0, start) + value + json.slice(start + field.length);
};

let last = { text: '', json: '""' };

const jsonOf = (text: string): string => {
  if (last.text !== text) last = { text, json: JSON.stringify(text) };
  return last.json;
};
