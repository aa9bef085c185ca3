/**
 * Values in which a string that came before is one character that says where.
 *
 * Events of one commit name the same thread, run and dispatch again and again, and those ids are most of what they
 * take. Both ways walk the value in the same order and number the strings that are worth it, so no table is stored.
 * Costs about a microsecond an event, half of which the encoding of the ids would take.
 */

/** Begins what stands for another string, and a string that begins so itself. */
const MARK = '\u0001';
const MARK_CODE = 1;
/** Codes of places begin behind the mark, so that no place looks like one. */
const FIRST = 0x20;
const MOST = 0x60;
const SHORTEST = 12;
const LONGEST = 80;
/** Ids stand no deeper. */
const DEEPEST = 5;

const PLACES = Array.from({ length: MOST }, (_, place) => MARK + String.fromCharCode(FIRST + place));

const isCounted = ({ length }: string): boolean => length >= SHORTEST && length <= LONGEST;

const isMarked = (text: string): boolean => text.charCodeAt(0) === MARK_CODE;

/** A copy; the value stays what it is. */
export const withShared = <V extends object>(value: V): V =>
  // Strings take the place of strings, so the shape is the same.
  shared(value, [], 0) as V;

const shared = (value: object, seen: string[], depth: number): object => {
  if (depth === DEEPEST) return value;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  const parts = copy as Record<string, unknown>;
  for (const name in copy) {
    const part = parts[name];
    if (typeof part === 'string') {
      const text = placed(part, seen);
      if (text !== part) parts[name] = text;
    } else if (typeof part === 'object' && part !== null) parts[name] = shared(part, seen, depth + 1);
  }
  return copy;
};

const placed = (text: string, seen: string[]): string => {
  if (isCounted(text)) {
    // They are few, and most are one of the last: a Map would have to hash them all.
    const place = seen.indexOf(text);
    if (place >= 0) return PLACES[place] ?? text;
    if (!isMarked(text) && seen.length < MOST) seen.push(text);
  }
  return isMarked(text) ? MARK + text : text;
};

/** In place: the value was just read and is nobody else's. */
export const unshare = (value: object): void => restore(value, [], 0);

const restore = (value: object, seen: string[], depth: number): void => {
  if (depth === DEEPEST) return;
  const parts = value as Record<string, unknown>;
  for (const name in value) {
    const part = parts[name];
    if (typeof part === 'string') {
      if (isMarked(part)) parts[name] = meant(part, seen);
      else if (isCounted(part) && seen.length < MOST) seen.push(part);
    } else if (typeof part === 'object' && part !== null) restore(part, seen, depth + 1);
  }
};

const meant = (text: string, seen: readonly string[]): string =>
  text.charCodeAt(1) === MARK_CODE ? text.slice(1) : (seen[text.charCodeAt(1) - FIRST] ?? text);
