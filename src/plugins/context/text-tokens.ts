/**
 * Tokens of a text, estimated without a tokenizer.
 *
 * The rules are those by which tokenizers of today split a text: a word, up to three digits and a run of punctuation
 * are a token each, long words and changes of case are more, and scripts that vocabularies have fewer words of cost a
 * part of a token for each character. The weights are fitted to `o200k_base` and Llama 3 (`text-tokens.test.ts`).
 * Costs: one table look-up for each UTF-16 unit, about 4 ns; nothing is allocated.
 */

const SPACE = 0;
const LINE = 1;
const DIGIT = 2;
const UPPER = 3;
const LOWER = 4;
const MARK = 5;
const FOREIGN = 6;
const START = 7;

/** By ASCII code. */
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (/[a-z]/.test(char)) return LOWER;
  if (/[A-Z]/.test(char)) return UPPER;
  if (/[0-9]/.test(char)) return DIGIT;
  if (/[\n\r]/.test(char)) return LINE;
  return /[ \t]/.test(char) ? SPACE : MARK;
});

// In hundredths of a token, so that sums are exact.
const TOKEN = 100;
/** Of each letter behind the sixth of a word. */
const LONG_WORD = 21;
const WORD_LETTERS = 6;
/** Of each further letter of a word in capitals. */
const CAPITAL = 38;
/** Of each further mark of a run of punctuation. */
const MORE_MARKS = 22;
/** Of a letter with an accent inside a word. */
const ACCENT = 42;
/** The same in the languages of Central and Eastern Europe. */
const RARE_ACCENT = 72;
const isRare = (code: number): boolean => code >= 0x100 && code < 0x180;

/** The first code unit behind each range of scripts, and what a unit of the range costs. */
const SCRIPTS: readonly (readonly [end: number, weight: number])[] = [
  [0x0370, 50], // Latin-1 punctuation, diacritics
  [0x0400, 46], // Greek
  [0x0530, 36], // Cyrillic
  [0x0590, 60], // Armenian
  [0x0600, 58], // Hebrew
  [0x0780, 41], // Arabic
  [0x0900, 60],
  [0x0e00, 40], // scripts of India
  [0x0e80, 46], // Thai
  [0x1100, 70],
  [0x1200, 75], // Hangul jamo
  [0x1e00, 70],
  [0x2000, 60], // polytonic Greek
  [0x2e80, 90], // punctuation, symbols
  [0x3040, 85], // CJK punctuation
  [0x3100, 70], // kana
  [0xac00, 89], // Han
  [0xd800, 78], // Hangul
  [0xe000, 80], // half of a pair: emoji, rare Han
  [0xf900, 100],
  [0xfb00, 89], // Han
  [0xff00, 60],
];
const LAST_SCRIPT = 85;

/** Weights of blocks of 16 units, because all ranges end at such blocks. */
const BLOCKS = Uint8Array.from(
  { length: 4096 },
  (_, block) => SCRIPTS.find(([end]) => block * 16 < end)?.[1] ?? LAST_SCRIPT,
);

const LATIN_START = 0xc0;
const LATIN_END = 0x250;
/** Letters with one or two accents, as in Vietnamese. */
const MORE_LATIN_START = 0x1e00;
const MORE_LATIN_END = 0x1f00;

const isLatin = (code: number): boolean =>
  (code >= LATIN_START && code < LATIN_END) || (code >= MORE_LATIN_START && code < MORE_LATIN_END);

export function textTokens(text: string): number {
  let sum = 0;
  let kind = START;
  /** Units since the kind began. */
  let run = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 128) {
      if (isLatin(code)) {
        if (kind !== LOWER) sum += TOKEN;
        else sum += isRare(code) ? RARE_ACCENT : ACCENT;
        kind = LOWER;
        run += 1;
      } else {
        sum += BLOCKS[code >> 4] ?? LAST_SCRIPT;
        kind = FOREIGN;
        run = 0;
      }
      continue;
    }
    const next = ASCII[code] ?? MARK;
    if (next === LOWER) {
      if (kind === LOWER || kind === UPPER) {
        run += 1;
        if (run > WORD_LETTERS) sum += LONG_WORD;
      } else {
        sum += TOKEN;
        run = 1;
      }
    } else if (next !== kind) {
      // A single space belongs to the word or the mark behind it, and a line break to the mark in front of it.
      if (next === DIGIT) sum += kind === SPACE && run === 1 ? 2 * TOKEN : TOKEN;
      else if (next === LINE) sum += kind === MARK ? 0 : TOKEN;
      else if (next !== SPACE) sum += TOKEN;
      run = 1;
    } else {
      run += 1;
      if (next === UPPER) sum += CAPITAL;
      else if (next === MARK) sum += MORE_MARKS;
      else if (next === DIGIT) sum += run % 3 === 1 ? TOKEN : 0;
      else if (next === SPACE && run === 2) sum += TOKEN;
    }
    kind = next;
  }
  return Math.ceil(sum / TOKEN);
}
