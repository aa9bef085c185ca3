import { Integrity, Unavailable } from '../../schema/outcome.ts';
import type { Batch, Rows, ShippedValue } from './batch.ts';
import type { Codec } from './codec.ts';
import { END, type Key, writable } from './keys.ts';

/** One named table: rows of one type under ordered keys. Reads see committed rows, and are counted. */

export type Span = {
  /** Restricts the span to keys that extend this one. */
  prefix: Key;
  /** First and last part after the prefix, both inclusive. */
  from?: Key;
  to?: Key;
  /** In place of `from` (`to` when reversed): starts after this key. */
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
  /** Returns the keys without reading the rows. */
  keys(span: Span): Iterable<Key>;
  firstKey(span: Span): Key | undefined;
  /** Returns the first key after all that extend the prefix. */
  firstKeyBehind(prefix: Key): Key | undefined;
  /** Counts the keys in one read, regardless of their number. */
  count(span: Span): number;
  put(batch: Batch, key: Key, value: V): void;
  /** Puts a row that exists neither on disk nor in a commit in progress. */
  add(batch: Batch, key: Key, value: V): void;
  remove(batch: Batch, key: Key): void;
  /** Removes all rows whose keys extend the prefix. */
  clear(batch: Batch, prefix: Key): void;
};

/** `closed`: LMDB must no longer be accessed. */
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

/** Returns what is shipped of a value. */
export type Ship = (value: unknown, key: Key) => ShippedValue;

/** @param ship set for a table whose rows are shipped, in a store with a sink */
export const createTable = <V>(rows: Rows, codec: Codec, counter: ReadCounter, ship?: Ship): Table<V> => {
  const [name] = codec.key;
  const source: Source = { rows, name: String(name), counter };
  return {
    get(key) {
      countRead(counter);
      try {
        const value = rows.get(key);
        return value === undefined ? undefined : decoded<V>(value);
      } catch (cause) {
        throw unreadable(source, `row ${shown(key)}`, cause);
      }
    },
    has(key) {
      countRead(counter);
      return rows.doesExist(key);
    },
    entries: (span) => entriesIn<V>(source, span),
    *values(span) {
      for (const { value } of entriesIn<V>(source, span)) yield value;
    },
    keys: (span) => keysIn(source, span),
    firstKey(span) {
      for (const key of keysIn(source, { ...span, limit: 1 })) return key;
      return undefined;
    },
    firstKeyBehind(prefix) {
      countRead(counter);
      for (const key of rows.getKeys({ start: [...prefix, END], limit: 1 })) return written(key);
      return undefined;
    },
    count(span) {
      countRead(counter);
      return rows.getKeysCount(bounds(span));
    },
    put(batch, key, value) {
      const write = { kind: 'put' as const, rows, key: writable(key), value: codec.encode(value) };
      batch.writes.push(ship === undefined ? write : { ...write, shipped: ship(value, key) });
    },
    add(batch, key, value) {
      const write = { kind: 'add' as const, rows, key: writable(key), value: codec.encode(value) };
      batch.writes.push(ship === undefined ? write : { ...write, shipped: ship(value, key) });
    },
    remove(batch, key) {
      batch.writes.push({ kind: 'remove', rows, key: writable(key) });
    },
    clear(batch, prefix) {
      batch.writes.push({ kind: 'clear', rows, key: writable(prefix) });
    },
  };
};

/** The rows on disk, and the name of their table for messages. */
type Source = { rows: Rows; name: string; counter: ReadCounter };

function* entriesIn<V>(source: Source, span: Span): Iterable<{ key: Key; value: V }> {
  if (span.limit !== undefined && span.limit <= 0) return;
  refuseIfClosed(source.counter);
  const found = source.rows.getRange(bounds(span))[Symbol.iterator]();
  try {
    for (;;) {
      const { done, value: row } = nextOf(source, found, span);
      if (done) return;
      countRead(source.counter);
      yield { key: written(row.key), value: decoded<V>(row.value) };
    }
  } finally {
    // An early return of the consumer closes the cursor.
    found.return?.();
  }
}

const nextOf = <Row>(source: Source, found: Iterator<Row>, { prefix }: Span): IteratorResult<Row> => {
  try {
    return found.next();
  } catch (cause) {
    throw unreadable(source, `a row under ${shown(prefix)}`, cause);
  }
};

function* keysIn({ rows, counter }: Source, span: Span): Iterable<Key> {
  refuseIfClosed(counter);
  for (const key of rows.getKeys(bounds(span))) {
    countRead(counter);
    yield written(key);
  }
}

/** The rows of a table are written by its own `put` and `add` only, which accept only V. */
const decoded = <V>(value: unknown): V => value as V;

const unreadable = ({ name }: Source, row: string, cause: unknown): Integrity =>
  new Integrity(`${row} of table '${name}' cannot be read: stop the service and run troupe doctor`, {
    cause,
  });

const shown = (key: Key): string => JSON.stringify(key).slice(0, 200);

/** Keys on disk consist of text and numbers only; `END` is for bounds. A key of one part is read as that part. */
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
