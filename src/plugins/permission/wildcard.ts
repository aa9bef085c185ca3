import { RE2JS } from 're2js';
import { Invalid } from '../../schema/outcome.ts';
import { compileExpression } from '../../schema/regex.ts';

/**
 * Globs of the rule language (agent-loop.md 14.1): `*` matches any run of characters, `?` any one character, `[a-z]`
 * one character of a set, `[!a-z]` one outside it, and `\` makes the next character literal. A glob matches the whole
 * text, across `/`, `:` and line ends. The globs of the tool catalog (`src/schema/glob.ts`) are a different language:
 * their only wildcard is the star, and `?` and `[` are literal.
 *
 * Globs and regular expressions run in RE2 (`src/schema/regex.ts`), in time linear in the text whatever the pattern is.
 */

/** A wildcard is the source of a regular expression. */
type Token = { literal: string } | { wildcard: string };

/** Returns the unescaped text, or undefined if the text contains an unescaped wildcard. */
export const unescapeLiteral = (text: string): string | undefined => {
  const literals = tokensOf(text).map((token) => ('literal' in token ? token.literal : undefined));
  return literals.includes(undefined) ? undefined : literals.join('');
};

/** Escapes a literal so that the resulting pattern matches exactly this text. */
export const escapeLiteral = (literal: string): string =>
  literal.replace(/^\/|[\\*?[(]/g, (character) => `\\${character}`);

/** Characters of which no glob without sets compiles to too large a program. */
const ALWAYS_VALID = 256;

export const compileWildcards = (glob: string): ((text: string) => boolean) => {
  const tokens = tokensOf(glob);
  if (tokens.every((token) => 'literal' in token)) {
    const literal = tokens.map((token) => token.literal).join('');
    return (text) => text === literal;
  }
  let compiled: RE2JS | undefined;
  const expression = (): RE2JS => {
    compiled ??= compile(sourceOf(tokens), RE2JS.DOTALL, `glob ${quoted(glob)}`);
    return compiled;
  };
  // Only sets and long globs can be invalid. Others are compiled for their first text, so that a start compiles none.
  if (glob.includes('[') || glob.length > ALWAYS_VALID) expression();
  return (text) => expression().testExact(text);
};

const sourceOf = (tokens: readonly Token[]): string =>
  tokens.map((token) => ('literal' in token ? RE2JS.quote(token.literal) : token.wildcard)).join('');

/** Matches anywhere in the text unless the expression is anchored. */
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

/** Parses the set that opens at `start`. A bracket that is not closed or is empty counts as a literal. */
const setAt = (characters: readonly string[], start: number): { source: string; end: number } | undefined => {
  const isNegated = characters[start + 1] === '!' || characters[start + 1] === '^';
  const first = start + (isNegated ? 2 : 1);
  const end = endOfSet(characters, first);
  if (end === undefined || end === first) return undefined;
  return { source: `[${isNegated ? '^' : ''}${membersSource(characters.slice(first, end))}]`, end };
};

const endOfSet = (characters: readonly string[], first: number): number | undefined => {
  for (let index = first; index < characters.length; index += 1) {
    if (characters[index] === ']') return index;
    if (characters[index] === '\\') index += 1;
  }
  return undefined;
};

/** A hyphen at the start or at the end is a member; another one stands for a range. */
const membersSource = (characters: readonly string[]): string => {
  let source = '';
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index];
    const isRange = character === '-' && index > 0 && index < characters.length - 1;
    if (character === '\\') index += 1;
    source += isRange ? '-' : member(characters[index]);
  }
  return source;
};

const member = (character = '\\'): string => ('\\]^-['.includes(character) ? `\\${character}` : character);
