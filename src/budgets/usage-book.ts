import type { Payer } from '../schema/spending.ts';
import type { UsageNote } from '../schema/usage.ts';
import type { Batch, Store, UsageKey, UsageSums } from '../store/index.ts';
import { nanoOf } from './money.ts';

/**
 * Counts what runs use, by day, user, agent and model.
 *
 * Guarantees: what a stored run has used is stored in the commit that keeps it in the record of the run, so the sums
 * equal those of the records. A run that is not stored makes one separate commit at its end.
 * Cost: a small object per note, and a row per commit.
 */
export type UsageBook = {
  /** Adds a note to a commit. */
  add(batch: Batch, of: UsageOf, note: UsageNote): void;
  open(options: UsageOf & { isStored: boolean }): RunUsage;
};

/** The scope and the user of a run. */
export type UsageOf = Pick<Payer, 'scope' | 'user'>;

/** The usage of one run. */
export type RunUsage = {
  note(note: UsageNote): void;
  /** Adds what was noted since the last commit to the commit that keeps it. */
  write(batch: Batch): void;
  /** The run makes no further commits. */
  close(): void;
};

export type UsageBookDeps = {
  store: Pick<Store, 'usage' | 'batch' | 'commit'>;
  clock: { now(): number };
  /** Called when a separate commit has failed. */
  onCommitFailed(error: unknown): void;
};

export const createUsageBook = (deps: UsageBookDeps): UsageBook => {
  const { store, clock } = deps;
  const dayNow = createDays(clock);
  const add: UsageBook['add'] = (batch, of, note) =>
    store.usage.add(batch, keyOf(of, dayNow(), note), sumsOf(note));
  return {
    add,
    open(options) {
      let notes: UsageNote[] = [];
      const write = (batch: Batch): void => {
        for (const note of joined(notes)) add(batch, options, note);
        notes = [];
      };
      return {
        note(note) {
          notes.push(note);
        },
        write(batch) {
          if (options.isStored && notes.length > 0) write(batch);
        },
        close() {
          // The record of a stored run does not contain what was noted after its last commit.
          if (options.isStored || notes.length === 0) return;
          const batch = store.batch('commons');
          write(batch);
          store.commit(batch).catch(deps.onCommitFailed);
        },
      };
    },
  };
};

const DAY_MS = 86_400_000;

/** Returns the current day; its text is made once a day. */
const createDays = ({ now }: UsageBookDeps['clock']): (() => string) => {
  let number = Number.NaN;
  let text = '';
  return () => {
    const current = Math.floor(now() / DAY_MS);
    if (current !== number) {
      number = current;
      text = dayOf(current * DAY_MS);
    }
    return text;
  };
};

/** Returns the UTC day of a time in milliseconds. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const keyOf = ({ scope, user }: UsageOf, day: string, { agent, model }: UsageNote): UsageKey => ({
  scope,
  day,
  user,
  agent,
  model,
});

const sumsOf = ({ runs = 0, inferences = 0, input = 0, output = 0, usd }: UsageNote): UsageSums => ({
  runs,
  inferences,
  input_tokens: input,
  output_tokens: output,
  nano_usd: usd === undefined ? 0 : nanoOf(usd),
});

/** Most commits have one note; others are joined, so that each row is written once. */
const joined = (notes: readonly UsageNote[]): Iterable<UsageNote> => {
  if (notes.length < 2) return notes;
  const sums = new Map<string, UsageNote>();
  for (const note of notes) {
    const key = JSON.stringify([note.agent, note.model]);
    const before = sums.get(key);
    sums.set(key, before ? joinedNote(before, note) : note);
  }
  return sums.values();
};

const joinedNote = (one: UsageNote, other: UsageNote): UsageNote => ({
  agent: one.agent,
  model: one.model,
  runs: (one.runs ?? 0) + (other.runs ?? 0),
  inferences: (one.inferences ?? 0) + (other.inferences ?? 0),
  input: (one.input ?? 0) + (other.input ?? 0),
  output: (one.output ?? 0) + (other.output ?? 0),
  usd: (one.usd ?? 0) + (other.usd ?? 0),
});
