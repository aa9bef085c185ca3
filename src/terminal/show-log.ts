import { type Entry, entryOf, numberAt, textAt } from './entry.ts';
import {
  admitOther,
  admitRun,
  closeWindow,
  createFold,
  type Fold,
  type RunTally,
  WINDOW_MS,
} from './fold.ts';
import { below, entryLines, heading, type Page, runLine } from './layout.ts';
import type { Tone } from './paint.ts';
import { runEntryOf } from './run-entry.ts';
import type { Screen } from './screen.ts';
import { amount, counted, duration } from './text.ts';

/**
 * The log for whoever sits at the terminal: the same lines as in JSON, secrets masked as there, drawn and folded.
 * Costs nothing where lines are not written to a terminal, and here the reading of a line, about 5 µs.
 */

export type ShownLog = {
  /** A line of the log, JSON. */
  write(line: string): void;
  /** Shows what was only counted so far. */
  end(): void;
};

type Deps = {
  screen: Pick<Screen, 'write'>;
  page: () => Page;
  clock: { now(): number };
  later: (act: () => void, ms: number) => () => void;
  /** Messages that are told otherwise. */
  hidden?: ReadonlySet<string>;
};

type State = Deps & { fold: Fold; cancel: (() => void) | undefined };

export const showLog = (deps: Deps): ShownLog => {
  const state: State = { ...deps, fold: createFold(), cancel: undefined };
  return {
    write(line) {
      const entry = entryOf(line);
      if (!entry) state.screen.write(line);
      else if (!state.hidden?.has(entry.msg)) show(state, entry);
    },
    end() {
      state.cancel?.();
      tellFolded(state);
    },
  };
};

const show = (state: State, entry: Entry): void => {
  state.cancel ??= state.later(() => turn(state), WINDOW_MS);
  const page = state.page();
  const run = runEntryOf(entry);
  if (run) {
    if (admitRun(state.fold, run)) state.screen.write(`${runLine(page, run, entry.time)}\n`);
    return;
  }
  const sentence = SENTENCES[entry.msg]?.(entry);
  if (sentence) {
    const [word, tone, text] = sentence;
    tellFolded(state);
    state.screen.write(`${heading(page, entry.time, word, tone)}${below(page, text)}\n`);
  } else if (admitOther(state.fold, entry.level, entry.msg))
    state.screen.write(`${entryLines(page, entry)}\n`);
};

/** What the service says of itself, in the words of whoever sits there. */
const SENTENCES: Readonly<Record<string, (entry: Entry) => [word: string, tone: Tone, text: string]>> = {
  started: (entry) => ['started', 'green', `listening on ${textAt(entry, 'url')}`],
  'taking up the work of an earlier process': (entry) => [
    'recovery',
    'cyan',
    `${amount(numberAt(entry, 'done') ?? 0)} of ${counted(numberAt(entry, 'threads') ?? 0, 'thread')} taken up`,
  ],
  'work of an earlier process goes on': (entry) => [
    'recovery',
    'green',
    `what an earlier process left on ${counted(numberAt(entry, 'threads') ?? 0, 'thread')} goes on`,
  ],
  stopping: () => ['stopping', 'yellow', 'takes no new requests'],
  'stopping: waiting for runs': (entry) => [
    'stopping',
    'yellow',
    `waiting for ${counted(numberAt(entry, 'runs') ?? 0, 'run')}; Ctrl-C again stops now`,
  ],
  stopped: () => ['stopped', 'green', 'the next start goes on from here'],
};

const turn = (state: State): void => {
  const isBusy = tellFolded(state);
  state.cancel = isBusy ? state.later(() => turn(state), WINDOW_MS) : undefined;
};

const tellFolded = (state: State): boolean => {
  const { runs, others, isBusy } = closeWindow(state.fold);
  const page = state.page();
  const at = new Date(state.clock.now());
  if (runs) {
    const text = `${heading(page, at, 'runs', 'cyan')}${below(page, tallyText(runs))}`;
    state.screen.write(`${text}\n`);
  }
  for (const { level, msg, count } of others) {
    const tone = level === 'warn' ? 'yellow' : level === 'error' ? 'red' : 'dim';
    state.screen.write(`${heading(page, at, `+ ${amount(count)}`, tone)}${below(page, `more: ${msg}`)}\n`);
  }
  return isBusy;
};

const tallyText = ({ ends, fastest, slowest, tokens }: RunTally): string =>
  [
    Array.from(ends, ([end, count]) => `${amount(count)} ${end}`).join(', '),
    `${duration(fastest)} to ${duration(slowest)}`,
    ...(tokens > 0 ? [`${amount(tokens)} tokens`] : []),
  ].join('; ');
