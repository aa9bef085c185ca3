import { mayHideMore, redactText } from '../../data/redact-text.ts';
import { type Node, parseMarkdown } from './parse.ts';

/**
 * Markdown that is being written: each piece costs what its last two blocks do, however long the text before them is.
 * What comes can change the last block, and the one before it by changing where the last begins, but no other: those
 * are settled, and their nodes stay the same ones. A block behind which a secret may go on, or a text that has one in
 * what is not settled, settles nothing, so that the mask is always that of the whole text.
 */
export type Growing = {
  readonly text: string;
  readonly nodes: readonly Node[];
  /** So many of the nodes are settled. */
  readonly settled: number;
  /** In the text, where the others begin. */
  readonly from: number;
};

export const NOTHING: Growing = { text: '', nodes: [], settled: 0, from: 0 };

const MAY_CHANGE = 2;

export const grow = (before: Growing, text: string): Growing => {
  const { nodes, settled, from } = text.startsWith(before.text) ? before : NOTHING;
  const rest = text.slice(from);
  const masked = redactText(rest);
  const found = parseMarkdown(masked);
  const all = [...nodes.slice(0, settled), ...found.map(({ node }) => node)];
  const next = found.at(-MAY_CHANGE);
  const isSettled = next !== undefined && masked === rest && !mayHideMore(rest.slice(0, next.start));
  return isSettled
    ? { text, nodes: all, settled: all.length - MAY_CHANGE, from: from + next.start }
    : { text, nodes: all, settled, from };
};
