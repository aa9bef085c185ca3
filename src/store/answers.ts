import { Integrity } from '../schema/outcome.ts';
import type { Batch } from './batch.ts';

/**
 * The answer of a run is stored once, in the row of the run. The message that says it, the events that tell of it and
 * the dispatch that brought it refer to the run, and are filled in when they are read.
 *
 * The row of a run holds the text because nothing removes it: a thread may be deleted with its messages, events are
 * pruned, dispatches collected, and nobody has to write a text back. What a run holds never changes, whatever is
 * written over its record. Only rows of the commit that ends the run refer to it, and only for a text that is the same
 * to the letter; all others have their texts themselves, as rows of older programs have. Costs a read of the run for
 * each row that refers to one.
 */

/** Where a text stands in a value: the names of fields, and indexes, from the outside in. */
export type Path = readonly string[];

/** A value without a text that stood at these places. */
export type Hollow<V> = { value: V; places: Path[] };

export type AnswerTexts = {
  /** @throws Integrity when the run holds none */
  textOf(scope: string, run_id: string): string;
};

export type OfRun<V> = { scope: string; run_id: string | undefined; value: V };

/** A shorter one stays where it stands: referring to it would take as much. */
const SHORTEST = 40;
/** Answers stand no deeper than this in messages, payloads and records. */
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

/** The value without the answer that its run gives in this batch, if the batch has it already. */
export const hollowIn = <V extends object>(
  { answers }: Batch,
  { scope, run_id, value }: OfRun<V>,
): Hollow<V> => {
  const text = run_id === undefined ? undefined : answers.texts.get(nameOf(scope, run_id));
  return text === undefined ? { value, places: [] } : hollowed(value, text);
};

/** Puts a row of a run, and once more if the run ends later in the batch, with an answer that the row has. */
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
  // It has the shape that it had: in place of a text stands another one.
  return { value: emptied(value, text, { path: [], places }) as V, places };
};

/** The value itself when it has no such text, otherwise a copy of what leads to it. */
const emptied = (value: object, text: string, found: { path: string[]; places: Path[] }): object => {
  const { path, places } = found;
  const parts = value as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const name in value) {
    // Filling it in would set a prototype.
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

// Names of an array are its indexes.
const copyOf = (value: object): Record<string, unknown> =>
  (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;

/** In place: the value was just read and is nobody else's. */
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
