import { isObject } from '../data/guard.ts';
import { MASK } from '../data/redact-text.ts';
import { redact } from '../data/redaction.ts';

/**
 * What differs between two values, field by field. It is found on the values as they are and told of masked ones: a
 * secret that changed is told without either of its values.
 */
export type Change = {
  /** `sections.permission.rules[0].tool` */
  path: string;
  kind: 'added' | 'removed' | 'changed';
  /** Masked. */
  before: unknown;
  after: unknown;
  /** It differs in what is masked. */
  isSecret: boolean;
};

/** Of a whole that is there before, after, or both. */
export const changesOf = (before: unknown, after: unknown): Change[] => {
  const changes: Change[] = [];
  const masked = { before: redact(before), after: redact(after) };
  compare({ before, after }, masked, '', changes);
  return changes;
};

type Pair = { before: unknown; after: unknown };

const compare = (raw: Pair, masked: Pair, path: string, changes: Change[]): void => {
  if (Object.is(raw.before, raw.after)) return;
  if (isObject(raw.before) && isObject(raw.after)) {
    // A masked object is no object any more.
    if (!isObject(masked.before) || !isObject(masked.after)) {
      if (JSON.stringify(raw.before) !== JSON.stringify(raw.after)) changes.push(changeOf(raw, masked, path));
      return;
    }
    for (const key of new Set([...Object.keys(raw.before), ...Object.keys(raw.after)])) {
      const at = path === '' ? key : `${path}.${key}`;
      compare(membersOf(raw, key), membersOf(masked, key), at, changes);
    }
    return;
  }
  if (Array.isArray(raw.before) && Array.isArray(raw.after) && holdsObjects(raw)) {
    const length = Math.max(raw.before.length, raw.after.length);
    for (let index = 0; index < length; index += 1) {
      compare(itemsOf(raw, index), itemsOf(masked, index), `${path}[${index}]`, changes);
    }
    return;
  }
  if (JSON.stringify(raw.before) !== JSON.stringify(raw.after)) changes.push(changeOf(raw, masked, path));
};

const membersOf = ({ before, after }: Pair, key: string): Pair => ({
  before: isObject(before) ? before[key] : undefined,
  after: isObject(after) ? after[key] : undefined,
});

const itemsOf = ({ before, after }: Pair, index: number): Pair => ({
  before: Array.isArray(before) ? before[index] : undefined,
  after: Array.isArray(after) ? after[index] : undefined,
});

/** A list of words is read as a whole, one of records by its members. */
const holdsObjects = ({ before, after }: Pair): boolean =>
  [before, after].some((list) => Array.isArray(list) && list.some((item) => isObject(item)));

const changeOf = (raw: Pair, masked: Pair, path: string): Change => ({
  path,
  kind: raw.before === undefined ? 'added' : raw.after === undefined ? 'removed' : 'changed',
  before: masked.before,
  after: masked.after,
  isSecret: [masked.before, masked.after].some((value) => value === MASK),
});

export type Piece = { kind: 'same' | 'removed' | 'added'; text: string };

/** Longer texts are told apart as wholes: the comparison costs the product of their words. */
const MOST_WORDS = 2000;

/** The words of two texts, as the longest common run of words has it. */
export const wordChanges = (before: string, after: string): Piece[] => {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) {
    return [
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ];
  }
  const lengths = commonLengths(a, b);
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left = '', right = ''] = [a[i], b[j]];
    if (i < a.length && j < b.length && left === right) {
      push(pieces, 'same', left);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && at(lengths, i + 1, j) >= at(lengths, i, j + 1))) {
      push(pieces, 'removed', left);
      i += 1;
    } else {
      push(pieces, 'added', right);
      j += 1;
    }
  }
  return pieces;
};

const wordsOf = (text: string): string[] => text.match(/\s+|[^\s]+/g) ?? [];

const at = (rows: readonly Uint16Array[], i: number, j: number): number => rows[i]?.[j] ?? 0;

const commonLengths = (a: readonly string[], b: readonly string[]): Uint16Array[] => {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = rows[i];
    for (let j = b.length - 1; row && j >= 0; j -= 1) {
      row[j] = a[i] === b[j] ? at(rows, i + 1, j + 1) + 1 : Math.max(at(rows, i + 1, j), at(rows, i, j + 1));
    }
  }
  return rows;
};

const push = (pieces: Piece[], kind: Piece['kind'], text: string): void => {
  const last = pieces.at(-1);
  if (last?.kind === kind) last.text += text;
  else pieces.push({ kind, text });
};
