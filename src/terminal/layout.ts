import { type Entry, numberAt, textAt } from './entry.ts';
import type { Paint, Tone } from './paint.ts';
import type { RunEntry } from './run-entry.ts';
import { amount, cut, duration, harmless, shortId, timeOfDay, wrapped } from './text.ts';

/**
 * The lines of a terminal: the time, a colored word, and the message. A run is a row that shows as many columns as the
 * terminal fits; a problem is shown completely, on as many lines as needed, with its cause below.
 */

export type Page = { paint: Paint; columns: number };

const WORD = 9;
const GAP = '  ';
/** Width of the time, the word and the gaps. */
const MARGIN = 8 + WORD + 2 * GAP.length;

export const heading = ({ paint }: Page, at: Date, word: string, tone: Tone): string =>
  `${paint('dim', timeOfDay(at))}${GAP}${paint(tone, word.padEnd(WORD))}${GAP}`;

type Cell = { width: number; from: number; text: string; tone?: Tone; end?: true };

const cellsOf = (run: RunEntry): Cell[] => [
  { width: 16, from: 0, text: run.agent },
  { width: 20, from: 110, text: run.model, tone: 'dim' },
  { width: 10, from: 0, text: duration(run.seconds), end: true },
  { width: 20, from: 84, text: tokensOf(run), tone: 'dim', end: true },
  { width: 9, from: 0, text: shortId(run.thread), tone: 'dim' },
];

const tokensOf = ({ input, output }: RunEntry): string =>
  input + output === 0 ? '' : `${amount(input)} in, ${amount(output)} out`;

export const runLine = (page: Page, run: RunEntry, at: Date): string => {
  const cells = cellsOf(run)
    .filter(({ from }) => page.columns >= from)
    .map(({ width, text, tone, end }) => {
      const shown = cut(harmless(text), width);
      const padded = end ? shown.padStart(width) : shown.padEnd(width);
      return tone ? page.paint(tone, padded) : padded;
    });
  const detail = run.detail === undefined ? [] : [page.paint(run.tone, harmless(run.detail))];
  return (heading(page, at, run.end, run.tone) + [...cells, ...detail].join(GAP)).trimEnd();
};

const LEVELS: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  trace: ['trace', 'dim'],
  debug: ['debug', 'dim'],
  info: ['', 'dim'],
  warn: ['warning', 'yellow'],
  error: ['error', 'red'],
  fatal: ['error', 'red'],
};

/** A text below a heading, with the same indentation. */
export const below = (page: Page, text: string, tone?: Tone): string =>
  wrapped(harmless(text), Math.max(20, page.columns - MARGIN))
    .map((line) => (tone ? page.paint(tone, line) : line))
    .join(`\n${' '.repeat(MARGIN)}`);

export const entryLines = (page: Page, entry: Entry): string => {
  const [word, tone] = LEVELS[entry.level] ?? [entry.level, 'dim'];
  const parts = [below(page, entry.msg)];
  const cause = causeOf(entry);
  if (cause !== undefined && cause !== entry.msg) parts.push(below(page, cause, tone));
  const named = namedFields(entry);
  if (named !== '') parts.push(below(page, named, 'dim'));
  if (entry.level === 'error' || entry.level === 'fatal') parts.push(...stackOf(page, entry));
  return heading(page, entry.time, word, tone) + parts.join(`\n${' '.repeat(MARGIN)}`);
};

/** Whether the entry is one of several attempts. */
export const isAttempt = (entry: Entry): boolean => numberAt(entry, 'attempt') !== undefined;

/** An attempt that failed like the one above it. */
export const attemptLine = (page: Page, entry: Entry): string => {
  const [word, tone] = LEVELS[entry.level] ?? [entry.level, 'dim'];
  const most = numberAt(entry, 'max_attempts');
  const run = textAt(entry, 'run_id');
  const number = `attempt ${numberAt(entry, 'attempt')}${most === undefined ? '' : ` of ${most}`}`;
  const text = `${entry.msg}, ${number}: the same error${run === undefined ? '' : ` (run ${shortId(run)})`}`;
  return heading(page, entry.time, word, tone) + below(page, text);
};

const errorOf = ({ fields: { err } }: Entry): Record<string, unknown> =>
  typeof err === 'object' && err !== null ? { ...err } : {};

const LONGEST = 2000;

export const causeOf = (entry: Entry): string | undefined => {
  const { message } = errorOf(entry);
  const cause = typeof message === 'string' && message !== '' ? message : textAt(entry, 'problem');
  return cause === undefined ? undefined : cut(cause, LONGEST);
};

const namedFields = ({ fields }: Entry): string =>
  cut(
    Object.entries(fields)
      .filter(([name]) => name !== 'err' && name !== 'problem')
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(' '),
    LONGEST,
  );

/** The stack locates a bug. Problems that the operator can fix are shown without it. */
const stackOf = (page: Page, entry: Entry): string[] => {
  const { stack } = errorOf(entry);
  if (typeof stack !== 'string') return [];
  return stack
    .split('\n')
    .filter((line) => line.trim().startsWith('at '))
    .map((line) => page.paint('dim', harmless(line.trim())));
};
