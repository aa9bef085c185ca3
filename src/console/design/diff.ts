import { isObject } from '../data/guard.ts';
import { MASK } from '../data/redact-text.ts';
import { redact } from '../data/redaction.ts';

/**
 * The differences between two values, field by field. The comparison uses the original values and reports masked ones,
 * so that a changed secret is reported without either of its values.
 */
export type Change = {
  /** For example `sections.permission.rules[0].tool`. */
  path: string;
  kind: 'added' | 'removed' | 'changed';
  /** Masked, like `after`. */
  before: unknown;
  after: unknown;
  isSecret: boolean;
};

/** The changes between two values, either of which may be missing. */
export const changesOf = (before: unknown, after: unknown): Change[] => {
  const changes: Change[] = [];
  const masked = { before: redact(before), after: redact(after) };
  compare({ before, after }, masked, '', changes);
  return changes;
};

type Pair = { before: unknown; after: unknown };

const compare = (raw: Pair, masked: Pair, path: string, changes: Change[]): void => {
  if (Object.is(raw.before, raw.after)) return;
  const parts = memberParts(raw, masked, path) ?? itemParts(raw, masked, path);
  if (parts) for (const part of parts) compare(part.raw, part.masked, part.path, changes);
  else if (JSON.stringify(raw.before) !== JSON.stringify(raw.after)) {
    changes.push(changeOf(raw, masked, path));
  }
};

type Part = { raw: Pair; masked: Pair; path: string };

/** The members of two objects; undefined for other values and for a masked object, which is a string. */
const memberParts = (raw: Pair, masked: Pair, path: string): Part[] | undefined => {
  if (!isObject(raw.before) || !isObject(raw.after)) return undefined;
  if (!isObject(masked.before) || !isObject(masked.after)) return undefined;
  const keys = new Set([...Object.keys(raw.before), ...Object.keys(raw.after)]);
  return [...keys].map((key) => ({
    raw: membersOf(raw, key),
    masked: membersOf(masked, key),
    path: path === '' ? key : `${path}.${key}`,
  }));
};

/** The items of two lists of objects; undefined for other values. */
const itemParts = (raw: Pair, masked: Pair, path: string): Part[] | undefined => {
  if (!Array.isArray(raw.before) || !Array.isArray(raw.after) || !holdsObjects(raw)) return undefined;
  const length = Math.max(raw.before.length, raw.after.length);
  return Array.from({ length }, (_, index) => ({
    raw: itemsOf(raw, index),
    masked: itemsOf(masked, index),
    path: `${path}[${index}]`,
  }));
};

const membersOf = ({ before, after }: Pair, key: string): Pair => ({
  before: isObject(before) ? before[key] : undefined,
  after: isObject(after) ? after[key] : undefined,
});

const itemsOf = ({ before, after }: Pair, index: number): Pair => ({
  before: Array.isArray(before) ? before[index] : undefined,
  after: Array.isArray(after) ? after[index] : undefined,
});

/** A list of plain values is compared as a whole; a list of objects is compared item by item. */
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

/** Longer texts are compared as a whole, because the cost is the product of the numbers of their words. */
const MOST_WORDS = 2000;

/** The differences between two texts, found by a longest common subsequence of words. */
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
