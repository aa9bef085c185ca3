/**
 * How deep values from outside may nest. What is stored and shown is walked by recursion in many places, ours and
 * those of libraries, and a stack ends somewhere else in each process: so what nests deeper is refused where it
 * comes in, and nothing behind has to think of it.
 */
export const DEEPEST = 128;

/**
 * How many values and keys the JSON of a request may hold. A body of two bytes a value costs hundreds of times its
 * size once it is parsed, and a turn of many seconds: with this bound parsing, checking and storing take a few
 * milliseconds each, whatever the bytes are. A conversation of 4,000 messages of text stays below it.
 */
export const MOST_VALUES = 50_000;

/**
 * How many bytes the keys of it may have together. A key costs several times what a text of its length costs, since
 * it is looked up among all others; names are short, and 25,000 of 40 bytes fit.
 */
export const MOST_KEY_BYTES = 2 ** 20;

/** Also true for what contains itself. Costs a visit of each value, without recursion. */
export const isTooDeep = (value: unknown): boolean => nestsDeeperThan(value, DEEPEST);

/** The same with another bound. */
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

/** How far the bytes of a JSON text have been looked at. */
export type JsonScan = {
  depth: number;
  values: number;
  keyBytes: number;
  inString: boolean;
  escaped: boolean;
  /** Bytes of the latest string, with its last quote. */
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
 * The same bounds for a text of which nothing has been built yet, as its bytes come. Returns what is wrong, if
 * anything is; what is no JSON at all is left to the parser.
 *
 * Guarantees: looks at each byte once, keeps nothing of it, and stops at the first excess.
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
