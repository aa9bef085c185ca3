import { Integrity, Unavailable } from '../schema/outcome.ts';
import type { Batch, Rows } from './batch.ts';
import type { Codec } from './codec.ts';
import { END, type Key, writable } from './keys.ts';

/** One named table: rows of one type under ordered keys. Reads see what is committed and count what they touch. */

export type Span = {
  /** Keys that continue this one. */
  prefix: Key;
  /** First and last part after the prefix, both included. */
  from?: Key;
  to?: Key;
  /** Instead of `from` (`to` when reversed): begins behind this key. */
  after?: Key;
  reverse?: boolean;
  limit?: number;
  /** Rows to skip; skipped rows are not decoded. */
  offset?: number;
};

export type Table<V> = {
  get(key: Key): V | undefined;
  has(key: Key): boolean;
  values(span: Span): Iterable<V>;
  entries(span: Span): Iterable<{ key: Key; value: V }>;
  /** Without reading the rows. */
  keys(span: Span): Iterable<Key>;
  firstKey(span: Span): Key | undefined;
  /** The first key behind all that continue the prefix. */
  firstKeyBehind(prefix: Key): Key | undefined;
  /** Without handing out keys or rows; one read, however many there are. */
  count(span: Span): number;
  put(batch: Batch, key: Key, value: V): void;
  /** A row that is not there, neither on disk nor by what is under way. */
  add(batch: Batch, key: Key, value: V): void;
  remove(batch: Batch, key: Key): void;
  /** Removes everything whose key continues the prefix. */
  clear(batch: Batch, prefix: Key): void;
};

/** `closed`: LMDB must not be asked any more. */
export type ReadCounter = { reads: number; closed: boolean };

/** @throws Unavailable */
const refuseIfClosed = ({ closed }: ReadCounter): void => {
  if (closed) throw new Unavailable('the store is closed: the service is shutting down');
};

/** @throws Unavailable once the store is closed */
export const countRead = (counter: ReadCounter): void => {
  refuseIfClosed(counter);
  counter.reads += 1;
};

export const createTable = <V>(rows: Rows, codec: Codec, counter: ReadCounter): Table<V> => {
  const [name] = codec.key;

  const refuseClosed = (): void => refuseIfClosed(counter);
  const count = (): void => countRead(counter);

  // The rows of a table are written by its own `put` only, which takes nothing but V.
  const decoded = (value: unknown): V => value as V;

  function* entries(span: Span): Iterable<{ key: Key; value: V }> {
    if (span.limit !== undefined && span.limit <= 0) return;
    refuseClosed();
    const found = rows.getRange(bounds(span))[Symbol.iterator]();
    try {
      for (;;) {
        const { done, value: row } = nextOf(found, span);
        if (done) return;
        count();
        yield { key: written(row.key), value: decoded(row.value) };
      }
    } finally {
      // Whoever stops early gives the cursor back.
      found.return?.();
    }
  }

  const nextOf = <Row>(found: Iterator<Row>, { prefix }: Span): IteratorResult<Row> => {
    try {
      return found.next();
    } catch (cause) {
      throw unreadable(`a row under ${shown(prefix)}`, cause);
    }
  };

  const unreadable = (row: string, cause: unknown): Integrity =>
    new Integrity(`${row} of table '${name}' cannot be read: stop the service and run troupe doctor`, {
      cause,
    });

  function* keys(span: Span): Iterable<Key> {
    refuseClosed();
    for (const key of rows.getKeys(bounds(span))) {
      count();
      yield written(key);
    }
  }

  return {
    get(key) {
      count();
      try {
        const value = rows.get(key);
        return value === undefined ? undefined : decoded(value);
      } catch (cause) {
        throw unreadable(`row ${shown(key)}`, cause);
      }
    },
    has(key) {
      count();
      return rows.doesExist(key);
    },
    entries,
    *values(span) {
      for (const { value } of entries(span)) yield value;
    },
    keys,
    firstKey(span) {
      for (const key of keys({ ...span, limit: 1 })) return key;
      return undefined;
    },
    firstKeyBehind(prefix) {
      count();
      for (const key of rows.getKeys({ start: [...prefix, END], limit: 1 })) return written(key);
      return undefined;
    },
    count(span) {
      count();
      return rows.getKeysCount(bounds(span));
    },
    put(batch, key, value) {
      batch.writes.push({ kind: 'put', rows, key: writable(key), value: codec.encode(value) });
    },
    add(batch, key, value) {
      batch.writes.push({ kind: 'add', rows, key: writable(key), value: codec.encode(value) });
    },
    remove(batch, key) {
      batch.writes.push({ kind: 'remove', rows, key: writable(key) });
    },
    clear(batch, prefix) {
      batch.writes.push({ kind: 'clear', rows, key: writable(prefix) });
    },
  };
};

const shown = (key: Key): string => JSON.stringify(key).slice(0, 200);

/** Keys on disk are made of text and numbers only; `END` is for bounds. A key of one part is read as that part. */
const written = (key: (string | number | Uint8Array)[]): Key => (Array.isArray(key) ? key : [key]) as Key;

const bounds = ({ prefix, from, to, after, reverse = false, limit, offset }: Span) => {
  const low = [...prefix, ...(from ?? [])];
  const high = [...prefix, ...(to ?? []), END];
  const start = after === undefined ? (reverse ? high : low) : [...prefix, ...after];
  return {
    start,
    end: reverse ? low : high,
    exclusiveStart: after !== undefined,
    inclusiveEnd: true,
    reverse,
    ...(limit !== undefined && { limit }),
    ...(offset !== undefined && { offset }),
  };
};

export const keysUnder = (rows: Rows, prefix: Key, limit?: number): Key[] =>
  Array.from(rows.getKeys(bounds({ prefix, ...(limit !== undefined && { limit }) })), written);
