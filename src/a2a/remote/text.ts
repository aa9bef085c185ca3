import type { WireMessage, WirePart } from './wire.ts';

/** Returns the text of parts and messages of a remote service (a2a.md 12.6). */

const textOf = ({ text, data }: WirePart): string =>
  text ?? (data === undefined || data === null ? '' : JSON.stringify(data));

/** Joins texts and data with blank lines. */
export const textOfParts = (parts: readonly WirePart[]): string =>
  parts
    .map(textOf)
    .filter((text) => text !== '')
    .join('\n\n');

/** Omits data, for callers that keep it separately. */
export const plainTextOfParts = (parts: readonly WirePart[]): string =>
  textOfParts(parts.filter(({ text }) => text !== undefined));

/** Joins adjacent texts, which are chunks of one. */
export const joined = (parts: readonly WirePart[]): WirePart[] => {
  const result: WirePart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (last?.text === undefined || part.text === undefined) result.push(part);
    else result[result.length - 1] = { ...last, text: last.text + part.text };
  }
  return result;
};

/** Returns the last text of a conversation, or an empty text if the remote service has not responded yet. */
export const lastReply = (history: readonly WireMessage[]): string => {
  const last = history.findLast(({ parts }) => textOfParts(parts) !== '');
  return !last || last.role === 'ROLE_USER' ? '' : textOfParts(last.parts);
};
