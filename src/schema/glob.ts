import { Invalid } from './outcome.ts';

/**
 * Globs over tool ids (agent-loop.md 1.3): anchored to the whole string, `*` matches any characters (also none, also
 * `:` and `/`), `\` escapes the next character, everything else is literal.
 *
 * Guarantees: matching never backtracks. A pattern is a list of literals; the first must begin the text, the last must
 * end it, and each one between is matched at its leftmost position after the previous, which is always correct because
 * the rest only needs enough space. So no external pattern can make it slow.
 */

export type Glob = (text: string) => boolean;

/** @throws Invalid for an empty pattern and for a trailing backslash */
export const compileGlob = (pattern: string): Glob => {
  if (pattern === '') throw new Invalid('pattern is empty');
  const [head = '', ...rest] = literalsOf(pattern);
  const tail = rest.pop();
  if (tail === undefined) return (text) => text === head;
  return (text) => {
    if (text.length < head.length + tail.length || !text.startsWith(head) || !text.endsWith(tail))
      return false;
    const end = text.length - tail.length;
    let position = head.length;
    for (const literal of rest) {
      const found = text.indexOf(literal, position);
      if (found < 0 || found + literal.length > end) return false;
      position = found + literal.length;
    }
    return true;
  };
};

/** Returns the texts between the stars; `n` stars result in `n + 1` texts. */
const literalsOf = (pattern: string): string[] => {
  const literals = [''];
  for (let index = 0; index < pattern.length; index += 1) {
    const escaped = pattern[index] === '\\';
    if (escaped) index += 1;
    const character = pattern[index];
    if (character === undefined) throw new Invalid('pattern ends with a dangling escape (`\\`)');
    if (character === '*' && !escaped) literals.push('');
    else literals.push(`${literals.pop() ?? ''}${character}`);
  }
  return literals;
};
