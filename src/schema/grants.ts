import { compileGlob, type Glob } from './glob.ts';
import { Invalid } from './outcome.ts';

/**
 * The grammar of grants (identity.md 1.2): `word[:pattern]`. A pattern is a glob of tool catalogs; for `decide` it is a
 * pair `<agent>/<tool>`, in which a slash of the agent is written `\/` or `%2F`. Characters that an OAuth scope forbids are
 * percent-encoded.
 *
 * @example
 * const grants = parseGrants(['member', 'configure:agents']);
 * allows(grants, 'invoke', 'support'); // true
 * allows(grants, 'configure', 'providers'); // false
 */

/** The words, with their default pattern; `undefined` for words without one. */
const WORDS = {
  invoke: '*',
  read: 'own',
  write: 'all',
  decide: '*/*',
  keys: undefined,
  act: undefined,
  operate: undefined,
  manage: undefined,
  observe: undefined,
  evaluate: undefined,
  configure: '*',
  admin: undefined,
} as const satisfies Record<string, string | undefined>;

export type GrantWord = keyof typeof WORDS;

/** Words whose acts are not divided by scope, so only `admin` gives them (identity.md 1.2, rule 1). */
const SERVICE_WORDS: ReadonlySet<GrantWord> = new Set(['observe', 'evaluate', 'configure', 'admin']);

/** Names of several grants, usable wherever a grant is. */
const SETS = {
  member: ['invoke', 'read:own', 'decide'],
  viewer: ['read:all'],
  approver: ['read:all', 'decide'],
  operator: ['invoke', 'write:all', 'decide', 'operate', 'manage', 'keys'],
} as const satisfies Record<string, readonly string[]>;

/** The namespace whose writer can start programs as the user of the service: no pattern covers it. */
const WRITTEN_OUT = 'mcp-servers';

type Grant = { word: GrantWord; pattern: string | undefined; covers(...values: readonly string[]): boolean };

/** A list of grants, ready for checks. `texts` is the list as it was given. */
export type Grants = { readonly texts: readonly string[]; readonly list: readonly Grant[] };

/** Grants that each limit the ones before: an act needs all of them. */
export type Authority = readonly Grants[];

/** @throws Invalid with the position and the allowed words */
export const parseGrants = (texts: readonly string[]): Grants => ({
  texts,
  list: texts.flatMap((text, index) => parseText(text, `grants[${index}]`)),
});

/** Returns the grants of a token; unknown words are ignored, because a token also serves other services. */
export const parseTokenGrants = (texts: readonly string[]): Grants =>
  parseGrants(texts.filter((text) => isGrant(text)));

export const isGrant = (text: string): boolean => {
  try {
    parseText(text, 'grant');
    return true;
  } catch {
    return false;
  }
};

/** Returns whether the grants allow an act: a word, and for `invoke`, `decide` and `configure` what it concerns. */
export const allows = ({ list }: Grants, word: GrantWord, ...values: readonly string[]): boolean =>
  list.some((grant) => implies(grant, word, values));

/** Returns whether any grant has the word, whatever it concerns. */
export const names = ({ list }: Grants, word: GrantWord): boolean =>
  list.some((grant) => grant.word === word || implies(grant, word, []));

/** Returns whether an authority allows an act. */
export const authorizes = (authority: Authority, word: GrantWord, ...values: readonly string[]): boolean =>
  authority.length > 0 && authority.every((grants) => allows(grants, word, ...values));

/** Returns whether an authority has the word, whatever it concerns. */
export const mentions = (authority: Authority, word: GrantWord): boolean =>
  authority.length > 0 && authority.every((grants) => names(grants, word));

/**
 * Returns the first of `given` that the authority lacks, or `undefined`. What cannot be proved to be included counts as
 * lacking (identity.md 1.2, rule 2).
 */
export const firstBeyond = (authority: Authority, given: Grants): string | undefined => {
  const beyond = given.list.find(
    (inner) => !authority.every(({ list }) => list.some((outer) => includes(outer, inner))),
  );
  return beyond && textOf(beyond);
};

/**
 * Returns the grants that every list of an authority provably includes, each once. Overlapping patterns of which none
 * includes the other are omitted.
 */
export const commonGrants = (authority: Authority): string[] => {
  const shared = authority
    .flatMap(({ list }) => list)
    .filter((inner) => authority.every(({ list }) => list.some((outer) => includes(outer, inner))));
  const isRedundant = (inner: Grant, at: number): boolean =>
    shared.some(
      (outer, index) =>
        index !== at &&
        outer.word === inner.word &&
        includes(outer, inner) &&
        (index < at || !includes(inner, outer)),
    );
  return shared.filter((grant, at) => !isRedundant(grant, at)).map(textOf);
};

/** Returns the grant of one act, whatever characters its values have. */
export const grantOf = (word: GrantWord, ...values: readonly string[]): string => {
  if (values.length === 0) return word;
  const [first = '', ...others] = values.map((value) => value.replace(/[*\\]/g, '\\$&'));
  const head = word === 'decide' ? first.replaceAll('/', '\\/') : first;
  return `${word}:${encoded([head, ...others].join('/'))}`;
};

/** Returns the first service grant, which only `admin` gives. */
export const firstServiceGrant = ({ list }: Grants): string | undefined => {
  const found = list.find(({ word }) => SERVICE_WORDS.has(word));
  return found && textOf(found);
};

export const isServiceWord = (word: GrantWord): boolean => SERVICE_WORDS.has(word);

export const withoutServiceGrants = (grants: Grants): Grants => {
  const list = grants.list.filter(({ word }) => !SERVICE_WORDS.has(word));
  if (list.length === grants.list.length) return grants;
  return { texts: list.map(textOf), list };
};

/** Returns all grants of both lists, each once; a list that the other adds nothing to is shared. */
export const unite = (one: Grants, other: Grants): Grants => {
  if (one.list.length === 0) return other;
  if (other.list.length === 0) return one;
  return { texts: [...new Set([...one.texts, ...other.texts])], list: [...one.list, ...other.list] };
};

export const NO_GRANTS: Grants = { texts: [], list: [] };

const parseText = (text: string, at: string): Grant[] => {
  if (isSet(text)) return SETS[text].flatMap((member) => parseText(member, at));
  const colon = text.indexOf(':');
  const word = colon < 0 ? text : text.slice(0, colon);
  if (!isGrantWord(word)) throw new Invalid(`${at} '${text}' is unknown: ${ALLOWED}`);
  const raw = text.slice(colon + 1);
  const given = colon < 0 ? WORDS[word] : decoded(word === 'decide' ? escapedSlashes(raw) : raw, text, at);
  if (given !== undefined && WORDS[word] === undefined) {
    throw new Invalid(`${at} '${text}': '${word}' has no pattern`);
  }
  return [{ word, pattern: given, covers: compile(word, given, text, at) }];
};

const compile = (word: GrantWord, pattern: string | undefined, text: string, at: string): Grant['covers'] => {
  switch (word) {
    case 'read':
      if (pattern !== 'own' && pattern !== 'all')
        throw new Invalid(`${at} '${text}': 'read' is read:own or read:all`);
      return (reach) => reach === undefined || reach === 'own' || pattern === 'all';
    case 'write':
      if (pattern !== 'all') throw new Invalid(`${at} '${text}': 'write' is write:all`);
      return () => true;
    case 'invoke': {
      const agent = globOf(pattern, text, at);
      return (id) => id === undefined || agent(id);
    }
    case 'configure': {
      const namespace = globOf(pattern, text, at);
      return (name) =>
        name === undefined || (name === WRITTEN_OUT ? pattern === WRITTEN_OUT : namespace(name));
    }
    case 'decide': {
      const [agent, tool] = pairOf(pattern ?? '', text, at).map((part) => globOf(part, text, at));
      return (id, name) =>
        (id === undefined || agent?.(id) === true) && (name === undefined || tool?.(name) === true);
    }
    default:
      return () => true;
  }
};

const implies = (grant: Grant, word: GrantWord, values: readonly string[]): boolean => {
  if (grant.word === 'admin') return true;
  if (grant.word === word) return grant.covers(...values);
  switch (word) {
    case 'read':
      return grant.word === 'write' || (grant.word === 'invoke' && values[0] !== 'all');
    case 'observe':
      return grant.word === 'evaluate' || grant.word === 'configure';
    default:
      return false;
  }
};

/** Returns whether everything that `inner` allows is provably allowed by `outer`. */
const includes = (outer: Grant, inner: Grant): boolean => {
  if (outer.word === 'admin') return true;
  if (outer.word !== inner.word)
    return inner.pattern === undefined || inner.word === 'read'
      ? implies(outer, inner.word, valuesOf(inner))
      : false;
  return outer.covers(...valuesOf(inner));
};

/**
 * The values of a pattern, with a character that no id has in place of each star: a glob that matches it does so with a
 * star, so it matches whatever the star stands for.
 */
const valuesOf = ({ word, pattern }: Grant): string[] => {
  if (pattern === undefined) return [];
  if (word === 'read' || word === 'write') return [pattern];
  return (word === 'decide' ? split(pattern) : [pattern]).map(withoutStars);
};

const ANYTHING = '\u0000';

const withoutStars = (pattern: string): string =>
  pattern.replace(/\\([\s\S])|\*/g, (_found, escaped?: string) => escaped ?? ANYTHING);

const globOf = (pattern: string | undefined, text: string, at: string): Glob => {
  if (/\p{Cc}/u.test(pattern ?? '')) throw new Invalid(`${at} '${text}': control characters are not allowed`);
  try {
    return compileGlob(pattern ?? '');
  } catch (error) {
    throw new Invalid(`${at} '${text}': ${error instanceof Error ? error.message : String(error)}`);
  }
};

const pairOf = (pattern: string, text: string, at: string): string[] => {
  const pair = split(pattern);
  if (pair.length !== 2) throw new Invalid(`${at} '${text}': 'decide' is decide:<agent>/<tool>`);
  return pair;
};

/** Splits at the first slash that is not escaped; names of tools may have others. */
const split = (pattern: string): string[] => {
  const agent = /^(?:\\[\s\S]|[^/\\])*/.exec(pattern)?.[0] ?? '';
  return pattern[agent.length] === '/' ? [agent, pattern.slice(agent.length + 1)] : [pattern];
};

/** A slash that is percent-encoded belongs to an id, as one behind a backslash does. */
const escapedSlashes = (raw: string): string =>
  raw.replace(/(?:\\|%5c)(?:%[0-9a-f]{2}|[\s\S])|%2f/gi, (found) =>
    found.toLowerCase() === '%2f' ? '%5C%2F' : found,
  );

const decoded = (pattern: string, text: string, at: string): string => {
  try {
    return decodeURIComponent(pattern);
  } catch {
    throw new Invalid(`${at} '${text}': the percent-encoding is broken`);
  }
};

const textOf = ({ word, pattern }: Grant): string =>
  pattern === undefined ? word : `${word}:${encoded(pattern)}`;

/** Encodes what an OAuth scope forbids (RFC 6749, 3.3), and the percent sign. */
const encoded = (pattern: string): string => pattern.replace(/[\s"\\%]|[^\x21-\x7e]/gu, encodeURIComponent);

export const isGrantWord = (word: string): word is GrantWord => Object.hasOwn(WORDS, word);
const isSet = (text: string): text is keyof typeof SETS => Object.hasOwn(SETS, text);

const ALLOWED = `allowed are ${[...Object.keys(WORDS), ...Object.keys(SETS)].join(', ')}`;
