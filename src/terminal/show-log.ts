import type { LogEvent } from '../schema/log-events.ts';
import { type Entry, numberAt, parseEntry, textAt } from './entry.ts';
import {
  admitOther,
  admitRun,
  closeWindow,
  createFold,
  type Fold,
  type RunTally,
  WINDOW_MS,
} from './fold.ts';
import { attemptLine, below, causeOf, entryLines, heading, isAttempt, type Page, runLine } from './layout.ts';
import type { Tone } from './paint.ts';
import { parseRunEntry } from './run-entry.ts';
import type { Screen } from './screen.ts';
import { amount, counted, duration } from './text.ts';

/**
 * The log on a terminal: the same lines as in JSON, with secrets masked in the same way, formatted and folded. Costs
 * nothing if lines are not written to a terminal, and otherwise about 5 µs to parse a line.
 */

export type ShownLog = {
  /** Writes a JSON line of the log. */
  write(line: string): void;
  /** Shows the remaining counts. */
  end(): void;
};

type Deps = {
  screen: Pick<Screen, 'write'>;
  page: () => Page;
  clock: { now(): number };
  later: (act: () => void, ms: number) => () => void;
  /** Events that the command reports in another way. */
  hidden?: ReadonlySet<string>;
};

type State = Deps & {
  fold: Fold;
  cancel: (() => void) | undefined;
  /** The problem that was shown last, while no other line but rows of runs follows it. */
  problem?: string | undefined;
};

export const showLog = (deps: Deps): ShownLog => {
  const state: State = { ...deps, fold: createFold(), cancel: undefined };
  return {
    write(line) {
      const entry = parseEntry(line);
      if (!entry) state.screen.write(line);
      else if (!state.hidden?.has(entry.event)) show(state, entry);
    },
    end() {
      state.cancel?.();
      writeFolded(state);
    },
  };
};

const show = (state: State, entry: Entry): void => {
  state.cancel ??= state.later(() => turn(state), WINDOW_MS);
  const page = state.page();
  const run = parseRunEntry(entry);
  if (run) {
    if (admitRun(state.fold, run)) state.screen.write(`${runLine(page, run, entry.time)}\n`);
    return;
  }
  const sentence = SENTENCES.get(entry.event)?.(entry);
  if (sentence) {
    const [word, tone, text] = sentence;
    writeFolded(state);
    state.problem = undefined;
    state.screen.write(`${heading(page, entry.time, word, tone)}${below(page, text)}\n`);
  } else if (admitOther(state.fold, entry.level, entry.msg)) {
    const problem = `${entry.event} ${causeOf(entry)}`;
    const draw = state.problem === problem && isAttempt(entry) ? attemptLine : entryLines;
    state.problem = problem;
    state.screen.write(`${draw(page, entry)}\n`);
  }
};

type Sentence = [word: string, tone: Tone, text: string];

/** Events of the service itself that the terminal shows in its own form. */
const SENTENCES: ReadonlyMap<string, (entry: Entry) => Sentence> = new Map<
  LogEvent,
  (entry: Entry) => Sentence
>([
  ['service.started', (entry) => ['started', 'green', `listening on ${textAt(entry, 'url')}`]],
  [
    'recovery.progress',
    (entry) => [
      'recovery',
      'cyan',
      `${amount(numberAt(entry, 'done') ?? 0)} of ${counted(numberAt(entry, 'threads') ?? 0, 'thread')} recovered`,
    ],
  ],
  [
    'recovery.finished',
    (entry) => [
      'recovery',
      'green',
      `${counted(numberAt(entry, 'threads') ?? 0, 'thread')} of an earlier process recovered`,
    ],
  ],
  ['service.stopping', () => ['stopping', 'yellow', 'new requests are rejected']],
  [
    'service.waiting_for_runs',
    (entry) => [
      'stopping',
      'yellow',
      `waiting for ${counted(numberAt(entry, 'runs') ?? 0, 'run')}; press Ctrl-C again to stop now`,
    ],
  ],
  ['service.stopped', () => ['stopped', 'green', 'the next start resumes the work']],
]);

const turn = (state: State): void => {
  const isBusy = writeFolded(state);
  state.cancel = isBusy ? state.later(() => turn(state), WINDOW_MS) : undefined;
};

const writeFolded = (state: State): boolean => {
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
