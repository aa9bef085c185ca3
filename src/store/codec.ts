import { addExtension, Packr } from 'msgpackr';
import type { Key } from './keys.ts';

/**
 * Rows as msgpack with shared structures: the names of the fields of a record are stored once a table, not once
 * a row. A structure that is new goes to disk in the same transaction as the first row that uses it (the
 * committer asks `takeChanged`), so a row can never be there without its structure, and no row needs a
 * transaction of its own. Relies on being the only writer of the table.
 *
 * A key `__proto__` is a key like any other in JSON, and msgpackr renames it when it reads. Objects that have it
 * are written as an extension, a list of keys and values; that costs a search in the bytes of every row, and more
 * only for rows that have the word.
 */

export type Codec = {
  encode(value: unknown): Buffer;
  /** What lmdb decodes rows with. */
  readonly packr: Packr;
  readonly key: Key;
  /** The structures, when there are new ones since the last time. */
  takeChanged(): Buffer | undefined;
  /** What was taken did not reach the disk. */
  putBack(): void;
};

const MAX_SHARED = 256;
const LARGE = 2 ** 20;
const START = 8192;
const FIELD = /^\w{1,40}$/;

const PROTO = '__proto__';

/** Objects with generated keys would fill the table of structures and never be met again. */
const isRecord = (names: string[]): boolean =>
  names.length <= 40 && names.every((name) => FIELD.test(name) && name !== PROTO);

class Listed {
  readonly entries: [string, unknown][];

  constructor(entries: [string, unknown][]) {
    this.entries = entries;
  }
}

addExtension({
  Class: Listed,
  type: 0x50,
  write: ({ entries }: Listed) => entries,
  // What `write` gave. `fromEntries` defines the key, where an assignment would set the prototype.
  read: (entries: [string, unknown][]) => Object.fromEntries(entries),
});

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const withListed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withListed);
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  const entries = Object.entries(value).map(([key, part]): [string, unknown] => [key, withListed(part)]);
  return Object.hasOwn(value, PROTO) ? new Listed(entries) : Object.fromEntries(entries);
};

export const createCodec = (table: string, stored: string[][] | undefined): Codec => {
  let changed = false;
  let structures: object[] = stored ?? [];
  const packr = new Packr({
    maxSharedStructures: MAX_SHARED,
    // A structure that is not shared would be kept in the row itself, and such a row cannot be read back when it
    // meets the structure twice: what is not shared is written as a map, and read as the object that it was.
    maxOwnStructures: 0,
    mapsAsObjects: true,
    // Rows are data: an own key `toJSON` is a key, and calling it would fail.
    useToJSON: false,
    shouldShareStructure: isRecord,
    getStructures: () => structures,
    saveStructures(current) {
      structures = current;
      changed = true;
    },
  });
  const writeInto = packr.useBuffer.bind(packr);
  return {
    packr,
    key: [table],
    encode(value) {
      const bytes = packr.pack(value);
      // The packer writes row after row into one buffer, and copies all of it when it grows: behind a large row that
      // is a large buffer, kept in memory by every small row that follows.
      if (bytes.length > LARGE) writeInto(Buffer.allocUnsafeSlow(START));
      return bytes.includes(PROTO) ? packr.pack(withListed(value)) : bytes;
    },
    takeChanged() {
      if (!changed) return undefined;
      changed = false;
      return Buffer.from(JSON.stringify(structures));
    },
    putBack() {
      changed = true;
    },
  };
};
