import type { Database } from 'lmdb';
import type { Key } from './keys.ts';
import type { Columns } from './sink.ts';

/**
 * A list of writes that are applied together or not at all. Building one accesses no disk and costs an array push per
 * write. Values are encoded when they are added, so a value that cannot be encoded fails here, before anything is
 * written, and later changes of the object have no effect.
 */

export type Rows = Database<unknown, (string | number | Uint8Array)[]>;

export type Write =
  | { kind: 'put'; rows: Rows; key: Key; value: Buffer; shipped?: ShippedValue }
  /** Puts a row that does not exist: if a later write of the same transaction removes it, nothing is written. */
  | { kind: 'add'; rows: Rows; key: Key; value: Buffer; shipped?: ShippedValue }
  | { kind: 'remove'; rows: Rows; key: Key }
  /** Removes all keys that extend `key`, including those put by earlier writes of the same transaction. */
  | { kind: 'clear'; rows: Rows; key: Key };

/** A value as a database stores it: its JSON text and its columns. */
export type ShippedValue = { text: string; columns: Columns };

/**
 * The owner of the rows of a batch: a thread, the thread of a run, the configuration and all that every member has, or
 * this member alone. Ignored unless the store has a sink.
 */
export type BatchPlace =
  | { readonly scope: string; readonly thread_id: string }
  | { readonly scope: string; readonly run_id: string }
  | 'commons'
  | 'member';

export type Batch = {
  readonly place: BatchPlace;
  readonly writes: Write[];
  /** Changes of counters: `[counter, difference]`. */
  readonly counts: [key: Key, by: number][];
  readonly notes: Note[];
  readonly answers: Answers;
  /** Contents by their hash, which are written to the disk before the rows. */
  readonly blobs: Map<string, Uint8Array>;
  /** Called when readers see the writes, in the order of the commits; must not throw. */
  readonly afterwards: (() => void)[];
};

/** The answers of runs that end in this batch, and the rows that were put before the answers. */
export type Answers = {
  readonly texts: Map<string, string>;
  readonly earlier: { name: string; put(text: string): void }[];
};

export const createBatch = (place: BatchPlace): Batch => ({
  place,
  writes: [],
  counts: [],
  notes: [],
  answers: { texts: new Map(), earlier: [] },
  blobs: new Map(),
  afterwards: [],
});

/** A value that a later batch needs while this one is in progress. */
type Note = { readonly board: Map<string, Note>; readonly key: string; readonly value: unknown };

/**
 * Values that continue from batch to batch (the order of a run, its number of messages). They are read from the store
 * only when no batch that is being built or committed has a newer one, so their memory is bounded by the batches in
 * progress, and a failed commit leaves nothing behind.
 */
export type NoteBoard<V> = {
  note(batch: Batch, key: string, value: V): void;
  /** Returns the newest value, in this batch or in one that is being committed. */
  newest(batch: Batch, key: string): V | undefined;
  /** Returns the newest value of the batches that are being committed. */
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
      // Notes of this board are written only by its own `note`, which accepts only V.
      return (own ?? board.get(key))?.value as V | undefined;
    },
    underWay: (key) => board.get(key)?.value as V | undefined,
  };
};

export const runCallbacks = ({ notes }: Batch): void => {
  for (const note of notes) note.board.set(note.key, note);
};

export const collectCallbacks = ({ notes }: Pick<Batch, 'notes'>): void => {
  for (const note of notes) if (note.board.get(note.key) === note) note.board.delete(note.key);
};
