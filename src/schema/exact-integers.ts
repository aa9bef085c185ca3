/**
 * Detects integers that a JavaScript number cannot represent. `JSON.parse` rounds them without an error, so an id of 19
 * digits becomes another id; readers of external JSON reject them instead. Numbers with a fraction or an exponent are
 * intended as doubles and are accepted.
 * Cost: one search for 16 consecutive digits; only a text that contains them is scanned number by number.
 */

const LONG_DIGITS = /\d{16}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_INTEGER = /^-?\d{16,}$/;

/** Returns the first integer of a JSON text that would have other digits after parsing. */
export function inexactInteger(json: string): string | undefined {
  if (!LONG_DIGITS.test(json)) return undefined;
  for (const found of inexactIntegers(json)) return found;
  return undefined;
}

function* inexactIntegers(json: string): Iterable<string> {
  for (let at = 0; at >= 0; ) {
    const quote = json.indexOf('"', at);
    const between = quote < 0 ? json.slice(at) : json.slice(at, quote);
    for (const number of between.match(NUMBER) ?? []) {
      if (LONG_INTEGER.test(number) && !isExact(number)) yield number;
    }
    at = quote < 0 ? -1 : behindString(json, quote);
  }
}

/** Parsed objects and lists that contain a rounded integer, with the original digits by number. */
const changed = new WeakMap<object, ReadonlyMap<number, string>>();

/** Like `JSON.parse`, but records rounded integers, so that `exactJson` can restore their digits. */
export function parseExactly(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (!LONG_DIGITS.test(json)) return value;
  const digits = new Map([...inexactIntegers(json)].map((integer) => [Number(integer), integer]));
  if (digits.size > 0) noteChanged(value, digits);
  return value;
}

/** The recursion is bounded, because readers limit the depth of parsed JSON. */
function noteChanged(value: unknown, digits: ReadonlyMap<number, string>): boolean {
  if (typeof value === 'number') return digits.has(value);
  if (typeof value !== 'object' || value === null) return false;
  let has = false;
  for (const member of Object.values(value)) has = noteChanged(member, digits) || has;
  if (has) changed.set(value, digits);
  return has;
}

const MARKED = /"\\u0000(-?\d+)"/g;

/** Returns the JSON of an object from `parseExactly`, or of a part of one, with the original digits. */
export function exactJson(value: object): string {
  const digits = changed.get(value);
  if (!digits) return JSON.stringify(value);
  const marked = JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'number' && digits.has(member) ? `\u0000${digits.get(member)}` : member,
  );
  return marked.replace(MARKED, '$1');
}

function isExact(integer: string): boolean {
  const value = Number(integer);
  return (
    String(value) === integer ||
    (Number.isFinite(value) && value >= 1e21 && BigInt(value) === BigInt(integer))
  );
}

/** -1 for an unterminated string. */
function behindString(json: string, quote: number): number {
  for (let end = json.indexOf('"', quote + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return -1;
}

const SHOWN = 40;

/** Returns the error message for a client or a model. */
export function inexactText(integer: string): string {
  const shown = integer.length <= SHOWN ? integer : `${integer.slice(0, SHOWN)}…`;
  return `the integer ${shown} cannot be kept exactly: beyond 2^53 an integer must be a string`;
}

/** Like `inexactText`, with the path in the parsed value: `params.ids[2]: the integer ...`. */
export function inexactTextIn(value: unknown, integer: string): string {
  const path = pathTo(value, Number(integer)) ?? '';
  return path === '' ? inexactText(integer) : `${path.slice(0, MAX_PATH)}: ${inexactText(integer)}`;
}

const MAX_PATH = 200;

/**
 * Returns the first path with this number. The recursion is bounded, because readers limit the depth of parsed JSON.
 */
function pathTo(value: unknown, wanted: number): string | undefined {
  if (value === wanted) return '';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const rest = pathTo(member, wanted);
    if (rest === undefined) continue;
    const step = Array.isArray(value) ? `[${name}]` : name;
    return rest === '' || rest.startsWith('[') ? `${step}${rest}` : `${step}.${rest}`;
  }
  return undefined;
}
