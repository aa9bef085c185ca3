import { mayHideMore, redactText } from '../../data/redact-text.ts';
import { type Block, lex } from './lex.ts';

/**
 * Markdown that is being written. Appending text costs time proportional to the last blocks, regardless of the length
 * of the text before them.
 *
 * New text can change the last block, and the ones before it up to a blank line by moving their ends. All earlier
 * blocks are settled and keep their tokens. Nothing is settled while a block may continue with a secret or while the unsettled
 * text contains one, so that the mask always equals the mask of the whole text.
 */
export type Growing = {
  readonly text: string;
  readonly tokens: readonly Block['token'][];
  /** Number of settled tokens at the start of `tokens`. */
  readonly settled: number;
  /** Offset in the text where the unsettled tokens start. */
  readonly from: number;
};

export const NOTHING: Growing = { text: '', tokens: [], settled: 0, from: 0 };

const MAY_CHANGE = 2;

export const grow = (before: Growing, written: string): Growing => {
  const text = written.replaceAll(/\r\n?/g, '\n');
  const { tokens, settled, from } = text.startsWith(before.text) ? before : NOTHING;
  const rest = text.slice(from);
  const masked = redactText(rest);
  const found = lex(masked);
  const all = [...tokens.slice(0, settled), ...found.map(({ token }) => token)];
  const place = found.findLastIndex(({ isApart }, index) => isApart && index <= found.length - MAY_CHANGE);
  const next = found[place];
  const isSettled = next !== undefined && masked === rest && !mayHideMore(rest.slice(0, next.start));
  return isSettled
    ? { text, tokens: all, settled: settled + place, from: from + next.start }
    : { text, tokens: all, settled, from };
};
