/**
 * Masks text that resembles a secret.
 *
 * Guarantees: the cost is linear in the length of the text, whatever its content, since models and tools write it.
 * Relies on: every expression here being checked by `test/build/expressions.test.ts`.
 */

export const MASK = '***';

/** Names before `=`, optionally with a prefix such as `OPENAI_`. */
const SECRET_NAME =
  /(?:^|[^a-z0-9])(?:api[-_]?key|private[-_]?key|client[-_]?secret|secret|password|passphrase|access[-_]?key|(?:access|refresh|id|auth|session)[-_]?token|token|credential|jwt)$/i;

/** Names before `:`. */
const SECRET_HEADER = /(?:^|\W)(?:authorization|cookie)$/i;

/** Maximum number of characters before a separator that are read as its name. Longer names are not names of secrets. */
const LONGEST_NAME = 48;

/** Tokens that are recognizable by their format. */
const TOKENS: readonly [RegExp, string][] = [
  [/\b(bearer\s{1,8})[\w.~+/=-]{8,}/gi, `$1${MASK}`],
  [/(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g, MASK],
  [/\btp[kst]_[0-9A-Za-z]{49}\b/g, MASK],
  [/\bsk_(?:live|test)_\w{8,}/g, MASK],
  [/\bsk-[\w-]{8,}/g, MASK],
  [/\b(?:gh[pousr]_\w{16,}|github_pat_\w{20,})/g, MASK],
  [/\bxox[abeprs]-[\w-]{8,}/g, MASK],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, MASK],
];

export function redactText(text: string): string {
  let masked = maskAssigned(maskKeyBlocks(text)).text;
  for (const [pattern, replacement] of TOKENS) masked = masked.replace(pattern, replacement);
  return masked;
}

/** Whether the text after these whole lines may continue a secret that starts in them. */
export function mayHideMore(text: string): boolean {
  const tail = text.trimEnd();
  const name = tail.endsWith('=') || tail.endsWith(':') ? nameBefore(tail, tail.length - 1) : nameOf(tail);
  return (
    SECRET_NAME.test(name) || SECRET_HEADER.test(name) || /\bbearer$/i.test(name) || maskAssigned(text).isOpen
  );
}

const KEY_BEGINS = '-----BEGIN ';
const KEY_ENDS = '-----END ';
const KEY_KIND = /^(?:[A-Z]{1,20} ){0,3}PRIVATE KEY-----/;

/** The position after the next `mark` of a private key, or -1. */
function behindMark(text: string, mark: string, from: number): number {
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1)) {
    const kind = at + mark.length;
    const [found] = KEY_KIND.exec(text.slice(kind, kind + 100)) ?? [];
    if (found !== undefined) return kind + found.length;
  }
  return -1;
}

/** A block without an end marker extends to the end of the text. */
function maskKeyBlocks(text: string): string {
  let masked = '';
  let at = 0;
  for (;;) {
    const inside = behindMark(text, KEY_BEGINS, at);
    if (inside < 0) return masked + text.slice(at);
    masked += text.slice(at, text.lastIndexOf(KEY_BEGINS, inside)) + MASK;
    at = behindMark(text, KEY_ENDS, inside);
    if (at < 0) return masked;
  }
}

/** Masks the values of headers and of assignments. `isOpen` is true if a quoted value has no end. */
function maskAssigned(text: string): { text: string; isOpen: boolean } {
  let masked = '';
  let copied = 0;
  let isOpen = false;
  for (let at = nextSeparator(text, 0); at >= 0; at = nextSeparator(text, Math.max(at + 1, copied))) {
    const isHeader = text.charAt(at) === ':';
    if (!(isHeader ? SECRET_HEADER : SECRET_NAME).test(nameBefore(text, at))) continue;
    const from = afterBlanks(text, at + 1);
    const to = isHeader ? endOfLine(text, from) : endOfValue(text, from);
    if (to < 0) isOpen = true;
    if (to <= from) continue;
    masked += text.slice(copied, from) + MASK;
    copied = to;
  }
  return { text: masked + text.slice(copied), isOpen };
}

const SEPARATOR = /[:=]/g;

function nextSeparator(text: string, from: number): number {
  SEPARATOR.lastIndex = from;
  return SEPARATOR.exec(text)?.index ?? -1;
}

const nameOf = (text: string): string => text.slice(-LONGEST_NAME);

const nameBefore = (text: string, at: number): string =>
  text.slice(Math.max(0, at - LONGEST_NAME), at).trimEnd();

const BLANKS = /\s*/y;

function afterBlanks(text: string, from: number): number {
  BLANKS.lastIndex = from;
  return from + (BLANKS.exec(text)?.[0].length ?? 0);
}

const REST_OF_LINE = /[^\r\n"]*/y;

function endOfLine(text: string, from: number): number {
  REST_OF_LINE.lastIndex = from;
  return from + (REST_OF_LINE.exec(text)?.[0].length ?? 0);
}

const WORD = /[^\s&,;"']*/y;

/** The end of a quoted text or a word; -1 if a quotation has no end. */
function endOfValue(text: string, from: number): number {
  const quote = text.charAt(from);
  if (quote === '"' || quote === "'") {
    const end = text.indexOf(quote, from + 1);
    return end < 0 ? -1 : end + 1;
  }
  WORD.lastIndex = from;
  return from + (WORD.exec(text)?.[0].length ?? 0);
}

/** The message of an error, without secrets. */
export const reasonOf = (error: unknown): string =>
  redactText(error instanceof Error ? error.message : String(error));
