/**
 * Maximum nesting of external values. Stored and shown values are walked by recursion in many places, in this code and
 * in libraries, and the stack limit differs between processes: so deeper values are rejected on input, and no later
 * code has to check the depth.
 */
export const DEEPEST = 128;

/**
 * Maximum number of values and keys in the JSON of a request. A body with two bytes per value takes hundreds of times
 * its size once it is parsed, and blocks the event loop for seconds: with this limit parsing, validating and storing
 * take a few milliseconds each, regardless of the bytes. A conversation of 4,000 text messages stays below it.
 */
export const MOST_VALUES = 50_000;

/**
 * Maximum total bytes of the keys. A key costs several times as much as a text of its length, since it is looked up
 * among all others; names are short, and 25,000 of 40 bytes fit.
 */
export const MOST_KEY_BYTES = 2 ** 20;

/** Also true for cyclic values. Cost: visits each value, without recursion. */
export const isTooDeep = (value: unknown): boolean => nestsDeeperThan(value, DEEPEST);

/** Like `isTooDeep`, with another limit. */
export const nestsDeeperThan = (value: unknown, levels: number): boolean => {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > levels) return true;
    for (const inner of Object.values(next.value)) {
      if (typeof inner === 'object') open.push({ value: inner, depth });
    }
  }
  return false;
};

/** The state of a scan over the bytes of a JSON text. */
export type JsonScan = {
  depth: number;
  values: number;
  keyBytes: number;
  inString: boolean;
  escaped: boolean;
  /** Bytes of the latest string, including its closing quote. */
  string: number;
};

export const startScan = (): JsonScan => ({
  depth: 0,
  values: 1,
  keyBytes: 0,
  inString: false,
  escaped: false,
  string: 0,
});

/**
 * Applies the same limits to unparsed text, chunk by chunk. Returns the problem, if any; syntax errors are left to the
 * parser.
 *
 * Guarantees: reads each byte once, stores none, and stops at the first excess.
 */
export const scanJson = (scan: JsonScan, bytes: Uint8Array): string | undefined => {
  let at = 0;
  while (at < bytes.length) {
    const from = at;
    if (scan.inString) {
      at = endOfString(scan, bytes, from);
      scan.string += Math.min(at, bytes.length) - from;
    } else at = nextOutside(scan, bytes, from);
    if (scan.depth > DEEPEST) return `nests deeper than ${DEEPEST} levels`;
    if (scan.values > MOST_VALUES) return `has more than ${MOST_VALUES} values and keys`;
    if (scan.keyBytes > MOST_KEY_BYTES) return `has keys of more than ${MOST_KEY_BYTES} bytes in total`;
  }
  return undefined;
};

/** Returns the position after the closing quote, or the end of the bytes. */
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

/**
 * Returns the position after the next byte that opens a string or counts. Digits, blanks and closing brackets cost one
 * check each.
 */
const nextOutside = (scan: JsonScan, bytes: Uint8Array, from: number): number => {
  for (let at = from; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        scan.inString = true;
        scan.string = 0;
        return at + 1;
      // Every value of a key has a colon before it, and every member but the first a comma.
      case COLON:
        scan.keyBytes += scan.string;
        scan.values += 1;
        return at + 1;
      case COMMA:
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
