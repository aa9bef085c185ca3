import { Integrity } from '../../schema/outcome.ts';
import type { Batch } from './batch.ts';

/**
 * Stores the answer of a run once, in the row of the run. Its message, its events and its dispatch only refer to the
 * run, and are completed when they are read.
 *
 * The row of a run holds the text because it is never removed: a thread may be deleted with its messages, events are
 * pruned and dispatches are collected, without the text having to be copied back. The held text never changes, even if
 * the record of the run is overwritten. Only rows of the commit that ends the run refer to it, and only for an
 * identical text; all others contain their own texts, as rows of older versions do.
 * Cost: one read of the run for each row that refers to it.
 */

/** The position of a text in a value: field names and indexes, outermost first. */
export type Path = readonly string[];

/** A value without the text that it contained at these positions. */
export type Hollow<V> = { value: V; places: Path[] };

export type AnswerTexts = {
  /** @throws Integrity when the run holds none */
  textOf(scope: string, run_id: string): string;
};

export type OfRun<V> = { scope: string; run_id: string | undefined; value: V };

/** A shorter text is stored in place: a reference to it would take as much space. */
const SHORTEST = 40;
/** The maximum depth of answers in messages, payloads and records. */
const DEEPEST = 6;

const nameOf = (scope: string, run_id: string): string => `${scope}\0${run_id}`;

export const isHeld = (text: string | undefined): text is string =>
  text !== undefined && text.length >= SHORTEST;

/** The run holds this text from this batch on. */
export const holdAnswer = ({ answers }: Batch, scope: string, run_id: string, text: string): void => {
  const name = nameOf(scope, run_id);
  answers.texts.set(name, text);
  for (const row of answers.earlier) if (row.name === name) row.put(text);
};

/** Returns the value without the answer of its run, if that answer is already part of this batch. */
export const hollowIn = <V extends object>(
  { answers }: Batch,
  { scope, run_id, value }: OfRun<V>,
): Hollow<V> => {
  const text = run_id === undefined ? undefined : answers.texts.get(nameOf(scope, run_id));
  return text === undefined ? { value, places: [] } : hollowed(value, text);
};

/** Puts a row of a run, and puts it again if the run ends later in the batch with an answer that the row contains. */
export const putHollow = <V extends object>(
  batch: Batch,
  row: OfRun<V>,
  put: (hollow: Hollow<V>) => void,
): void => {
  put(hollowIn(batch, row));
  const { scope, run_id, value } = row;
  if (run_id === undefined) return;
  batch.answers.earlier.push({
    name: nameOf(scope, run_id),
    put(text) {
      const hollow = hollowed(value, text);
      if (hollow.places.length > 0) put(hollow);
    },
  });
};

export const hollowed = <V extends object>(value: V, text: string): Hollow<V> => {
  const places: Path[] = [];
  // The shape is unchanged: only a text was replaced by another one.
  return { value: emptied(value, text, { path: [], places }) as V, places };
};

/** Returns the value itself if it contains no such text, otherwise a copy of the path to it. */
const emptied = (value: object, text: string, found: { path: string[]; places: Path[] }): object => {
  const { path, places } = found;
  const parts = value as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const name in value) {
    // Filling in this key would set a prototype.
    if (name === '__proto__') continue;
    const part = parts[name];
    let empty = part;
    if (part === text) {
      places.push([...path, name]);
      empty = '';
    } else if (typeof part === 'object' && part !== null && path.length < DEEPEST - 1) {
      path.push(name);
      empty = emptied(part, text, found);
      path.pop();
    }
    if (empty === part) continue;
    copy ??= copyOf(value);
    copy[name] = empty;
  }
  return copy ?? value;
};

// Enumerated names of an array are its indexes.
const copyOf = (value: object): Record<string, unknown> =>
  (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;

/** Modifies the value in place: it was just read and has no other owner. */
export const fillIn = (value: unknown, places: readonly Path[], text: string): void => {
  for (const place of places) {
    const name = place.at(-1) ?? '';
    const holder = place.slice(0, -1).reduce(partOf, value);
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name))
      throw new Integrity(`a stored row has no place '${place.join('.')}' for the answer of its run`);
    Reflect.set(holder, name, text);
  }
};

const partOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
