/**
 * How deep values from outside may nest. What is stored and shown is walked by recursion in many places, ours and
 * those of libraries, and a stack ends somewhere else in each process: so what nests deeper is refused where it
 * comes in, and nothing behind has to think of it.
 */
export const DEEPEST = 128;

/**
 * How many values and keys the JSON of a request may hold. A body of two bytes a value costs hundreds of times its
 * size once it is parsed, and a turn of many seconds: with this bound parsing, checking and storing take a few
 * milliseconds, whatever the bytes are. A chat of thousands of messages stays far below it.
 */
export const MOST_VALUES = 100_000;

/** Also true for what contains itself. Costs a visit of each value, without recursion. */
export const isTooDeep = (value: unknown): boolean => {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > DEEPEST) return true;
    for (const inner of Object.values(next.value)) {
      if (typeof inner === 'object') open.push({ value: inner, depth });
    }
  }
  return false;
};

/** How far the bytes of a JSON text have been looked at. */
export type JsonScan = { depth: number; values: number; inString: boolean; escaped: boolean };

export const startScan = (): JsonScan => ({ depth: 0, values: 1, inString: false, escaped: false });

/**
 * The same bounds for a text of which nothing has been built yet, as its bytes come. Returns what is wrong, if
 * anything is; what is no JSON at all is left to the parser.
 *
 * Guarantees: looks at each byte once, keeps nothing of it, and stops at the first excess.
 */
export const scanJson = (scan: JsonScan, bytes: Uint8Array): string | undefined => {
  let at = 0;
  while (at < bytes.length) {
    at = scan.inString ? endOfString(scan, bytes, at) : nextOutside(scan, bytes, at);
    if (scan.depth > DEEPEST) return `nests deeper than ${DEEPEST} levels`;
    if (scan.values > MOST_VALUES) return `has more than ${MOST_VALUES} values and keys`;
  }
  return undefined;
};

/** Behind the quote that ends the string, or the end of the bytes. */
const endOfString = (scan: JsonScan, bytes: Uint8Array, from: number): number => {
  let at = scan.escaped ? from + 1 : from;
  scan.escaped = false;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === BACKSLASH) {
      at += 1;
      scan.escaped = at === bytes.length;
    } else if (byte === QUOTE) {
      scan.inString = false;
      return at + 1;
    }
  }
  return at;
};

/** Behind the next byte that opens a string or counts. Digits, blanks and closing brackets cost a look each. */
const nextOutside = (scan: JsonScan, bytes: Uint8Array, from: number): number => {
  for (let at = from; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        scan.inString = true;
        return at + 1;
      // Every member but the first has a comma before it, and every value of a key a colon.
      case COMMA:
      case COLON:
        scan.values += 1;
        return at + 1;
      case OPEN_LIST:
      case OPEN_OBJECT:
        scan.values += 1;
        scan.depth += 1;
        return at + 1;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        scan.depth -= 1;
    }
  }
  return bytes.length;
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
