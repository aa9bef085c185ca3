import type { WireMessage, WirePart } from './wire.ts';

/** What parts and messages of another service say (a2a.md 12.6). */

const textOf = ({ text, data }: WirePart): string =>
  text ?? (data === undefined || data === null ? '' : JSON.stringify(data));

/** Texts and data, with a blank line between them. */
export const textOfParts = (parts: readonly WirePart[]): string =>
  parts
    .map(textOf)
    .filter((text) => text !== '')
    .join('\n\n');

/** The same without data, for whoever keeps that as data. */
export const wordsOfParts = (parts: readonly WirePart[]): string =>
  textOfParts(parts.filter(({ text }) => text !== undefined));

/** Neighbouring texts are pieces of one. */
export const joined = (parts: readonly WirePart[]): WirePart[] => {
  const result: WirePart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (last?.text === undefined || part.text === undefined) result.push(part);
    else result[result.length - 1] = { ...last, text: last.text + part.text };
  }
  return result;
};

/** Of a conversation; when it is the other side's turn to say something, it has said nothing yet. */
export const lastWords = (history: readonly WireMessage[]): string => {
  const last = history.findLast(({ parts }) => textOfParts(parts) !== '');
  return !last || last.role === 'ROLE_USER' ? '' : textOfParts(last.parts);
};
