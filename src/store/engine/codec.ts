import { addExtension, Packr } from 'msgpackr';
import type { Key } from './keys.ts';

/**
 * Encodes rows as msgpack with shared structures: the field names of a record are stored once per table, not once per
 * row. A new structure is written in the same transaction as the first row that uses it (the committer calls
 * `takeChanged`), so a row never exists without its structure, and no separate transaction is needed.
 * Relies on being the only writer of the table.
 *
 * A key `__proto__` is a regular key in JSON, but msgpackr renames it when it reads. Objects with this key are written
 * as an extension, a list of keys and values; this costs a search in the bytes of every row, and more only for rows
 * that contain the word.
 */

export type Codec = {
  encode(value: unknown): Buffer;
  /** The packr with which lmdb decodes rows. */
  readonly packr: Packr;
  readonly key: Key;
  /** Returns the structures if there are new ones since the last call. */
  takeChanged(): Buffer | undefined;
  /** The structures returned last were not written to disk. */
  restoreChanged(): void;
};

const MAX_SHARED = 256;
const LARGE = 2 ** 20;
const START = 8192;
const FIELD = /^\w{1,40}$/;

const PROTO = '__proto__';

/** Objects with generated keys would fill the table of structures and never match again. */
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
  // Reads the output of `write`. `fromEntries` defines the key, whereas an assignment would set the prototype.
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
    // A structure that is not shared would be stored in the row itself, and such a row cannot be read back if it
    // contains the structure twice. Such objects are written as maps instead, and read as objects.
    maxOwnStructures: 0,
    mapsAsObjects: true,
    // Rows are data: an own key `toJSON` is a regular key, and calling it would fail.
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
      // The packer writes all rows into one buffer, and copies the whole buffer when it grows: after a large row, every
      // small row that follows would keep a large buffer in memory.
      if (bytes.length > LARGE) writeInto(Buffer.allocUnsafeSlow(START));
      return bytes.includes(PROTO) ? packr.pack(withListed(value)) : bytes;
    },
    takeChanged() {
      if (!changed) return undefined;
      changed = false;
      return Buffer.from(JSON.stringify(structures));
    },
    restoreChanged() {
      changed = true;
    },
  };
};
