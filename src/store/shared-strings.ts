/**
 * Values in which a string that came before is one character that says where.
 *
 * Events of one commit name the same thread, run and dispatch again and again, and those ids are most of what they
 * take. Both ways walk the value in the same order and number the strings that are worth it, so no table is stored.
 */

/** Begins what stands for another string, and a string that begins so itself. */
const MARK = '\u0001';
/** A place is a character behind the mark; numbers begin behind it, so that no place looks like a mark. */
const FIRST = 0x20;
const MOST = 0x60;
const SHORTEST = 12;
const LONGEST = 80;
/** Ids stand no deeper. */
const DEEPEST = 5;

const isCounted = (text: string): boolean => text.length >= SHORTEST && text.length <= LONGEST;

/** A copy; the value stays what it is. */
export const withShared = <V>(value: V): V => {
  const seen = new Map<string, number>();
  // Strings take the place of strings, so the shape is the same.
  return shared(value, seen, 0) as V;
};

const shared = (value: unknown, seen: Map<string, number>, depth: number): unknown => {
  if (typeof value === 'string') return placed(value, seen);
  if (typeof value !== 'object' || value === null || depth === DEEPEST) return value;
  if (Array.isArray(value)) return value.map((part) => shared(part, seen, depth + 1));
  const copy: Record<string, unknown> = { ...value };
  for (const name of Object.keys(copy)) copy[name] = shared(copy[name], seen, depth + 1);
  return copy;
};

const placed = (text: string, seen: Map<string, number>): string => {
  if (text.startsWith(MARK)) return MARK + text;
  if (!isCounted(text)) return text;
  const place = seen.get(text);
  if (place !== undefined) return MARK + String.fromCharCode(FIRST + place);
  if (seen.size < MOST) seen.set(text, seen.size);
  return text;
};

/** In place: the value was just read and is nobody else's. */
export const unshare = (value: object): void => restore(value, [], 0);

const restore = (value: object, seen: string[], depth: number): void => {
  if (depth === DEEPEST) return;
  const parts = value as Record<string, unknown>;
  for (const name of Object.keys(parts)) {
    const part = parts[name];
    if (typeof part === 'string') {
      if (part.startsWith(MARK)) parts[name] = meant(part, seen);
      else if (isCounted(part) && seen.length < MOST) seen.push(part);
    } else if (typeof part === 'object' && part !== null) restore(part, seen, depth + 1);
  }
};

const meant = (text: string, seen: readonly string[]): string =>
  text.startsWith(MARK, 1) ? text.slice(1) : (seen[text.charCodeAt(1) - FIRST] ?? text);
