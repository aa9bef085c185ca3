import { RE2JS } from 're2js';
import { Invalid } from '../../schema/outcome.ts';
import { compileExpression } from '../../schema/regex.ts';

/**
 * Globs of the rule language (agent-loop.md 14.1): `*` is any run of characters, `?` is one, `[a-z]` one of a set
 * and `[!a-z]` one outside of it, `\` makes the next character literal. A glob is about the whole text, also across
 * `/`, `:` and line ends. The globs of the tool catalogue (src/tools/glob.ts) are another language: they know only
 * the star, and there `?` and `[` stand for themselves.
 *
 * Globs and regular expressions run in RE2 (tools/regex.ts), in time linear in the text whatever the pattern is.
 */

/** A wildcard is the source of a regular expression. */
type Token = { literal: string } | { wildcard: string };

/** True when a text is another one for some texts only: it has no wildcard that is not escaped. */
export const literalOf = (text: string): string | undefined => {
  const literals = tokensOf(text).map((token) => ('literal' in token ? token.literal : undefined));
  return literals.includes(undefined) ? undefined : literals.join('');
};

/** The text of a glob that matches only this literal, also where a pattern would read something else in it. */
export const escapeLiteral = (literal: string): string =>
  literal.replace(/^\/|[\\*?[(]/g, (character) => `\\${character}`);

export const compileWildcards = (glob: string): ((text: string) => boolean) => {
  const tokens = tokensOf(glob);
  if (tokens.every((token) => 'literal' in token)) {
    const literal = tokens.map((token) => token.literal).join('');
    return (text) => text === literal;
  }
  const source = tokens
    .map((token) => ('literal' in token ? RE2JS.quote(token.literal) : token.wildcard))
    .join('');
  const compiled = compile(source, RE2JS.DOTALL, `glob ${quoted(glob)}`);
  return (text) => compiled.testExact(text);
};

/** Matches anywhere in the text unless it is anchored. */
export const compileRegex = (source: string): ((text: string) => boolean) => {
  const compiled = compile(source, 0, `regex ${quoted(source)}`);
  return (text) => compiled.test(text);
};

const compile = (source: string, flags: number, what: string): RE2JS => {
  const compiled = compileExpression(source, flags);
  if (!(compiled instanceof Invalid)) return compiled;
  throw new Invalid(`${what} is not valid: ${compiled.message}`, { cause: compiled });
};

const LONGEST_QUOTE = 200;

const quoted = (text: string): string =>
  JSON.stringify(text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}…`);

const tokensOf = (text: string): Token[] => {
  const characters = Array.from(text);
  const tokens: Token[] = [];
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? '';
    const set = character === '[' ? setAt(characters, index) : undefined;
    if (set) {
      tokens.push({ wildcard: set.source });
      index = set.end;
    } else if (character === '*') tokens.push({ wildcard: '.*' });
    else if (character === '?') tokens.push({ wildcard: '.' });
    else if (character === '\\' && index + 1 < characters.length) {
      index += 1;
      tokens.push({ literal: characters[index] ?? '' });
    } else tokens.push({ literal: character });
  }
  return tokens;
};

/** The set that opens at `start`; a bracket that is not closed, or around nothing, stands for itself. */
const setAt = (characters: readonly string[], start: number): { source: string; end: number } | undefined => {
  const negated = characters[start + 1] === '!' || characters[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  let source = '';
  for (let index = first; index < characters.length; index += 1) {
    const character = characters[index] ?? '';
    if (character === ']') {
      return source === '' ? undefined : { source: `[${negated ? '^' : ''}${source}]`, end: index };
    }
    const isRange = character === '-' && index > first && characters[index + 1] !== ']';
    if (character === '\\') index += 1;
    source += isRange ? '-' : member(character === '\\' ? characters[index] : character);
  }
  return undefined;
};

const member = (character = '\\'): string => ('\\]^-['.includes(character) ? `\\${character}` : character);
