import type { Database } from 'lmdb';
import type { Key } from './keys.ts';

/**
 * A list of writes that are applied together or not at all. Building one touches no disk and costs an array
 * push a write: values are encoded when they are added, so that what cannot be encoded fails here, before
 * anything is written, and later changes of the object do not matter.
 */

export type Rows = Database<unknown, (string | number | Uint8Array)[]>;

export type Write =
  | { kind: 'put'; rows: Rows; key: Key; value: Buffer }
  /** Of a row that is not there: if a later write of the same transaction removes it, nothing is written. */
  | { kind: 'add'; rows: Rows; key: Key; value: Buffer }
  | { kind: 'remove'; rows: Rows; key: Key }
  /** Everything whose key continues `key`, also what earlier writes of the same transaction put there. */
  | { kind: 'clear'; rows: Rows; key: Key };

export type Batch = {
  readonly writes: Write[];
  /** Changes of counters: `[counter, difference]`. */
  readonly counts: [key: Key, by: number][];
  readonly notes: Note[];
  readonly answers: Answers;
  /** Called when readers see what is written, in the order of the commits; must not throw. */
  readonly afterwards: (() => void)[];
};

/** The answers of runs that end with a batch, and the rows that were put before the batch knew. */
export type Answers = {
  readonly texts: Map<string, string>;
  readonly earlier: { name: string; put(text: string): void }[];
};

export const createBatch = (): Batch => ({
  writes: [],
  counts: [],
  notes: [],
  answers: { texts: new Map(), earlier: [] },
  afterwards: [],
});

/** Something that a later batch has to know while this one is under way. */
type Note = { readonly board: Map<string, Note>; readonly key: string; readonly value: unknown };

/**
 * Values that go on from batch to batch (the order of a run, how many messages it has). The store is read for
 * them only when no batch that is being built or under way has a newer one, so the memory they take is bounded
 * by what is under way, and a commit that fails leaves nothing behind.
 */
export type NoteBoard<V> = {
  note(batch: Batch, key: string, value: V): void;
  /** The newest value, in this batch or in one under way. */
  newest(batch: Batch, key: string): V | undefined;
  /** The newest value of those under way. */
  underWay(key: string): V | undefined;
};

export const createNoteBoard = <V>(): NoteBoard<V> => {
  const board = new Map<string, Note>();
  return {
    note(batch, key, value) {
      batch.notes.push({ board, key, value });
    },
    newest(batch, key) {
      const own = batch.notes.findLast((note) => note.board === board && note.key === key);
      // Notes of this board are written by its own `note` only, which takes nothing but V.
      return (own ?? board.get(key))?.value as V | undefined;
    },
    underWay: (key) => board.get(key)?.value as V | undefined,
  };
};

export const postNotes = ({ notes }: Batch): void => {
  for (const note of notes) note.board.set(note.key, note);
};

export const takeNotesDown = ({ notes }: Pick<Batch, 'notes'>): void => {
  for (const note of notes) if (note.board.get(note.key) === note) note.board.delete(note.key);
};
