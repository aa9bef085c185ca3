import { EventEmitter } from 'node:events';

/**
 * Counts the rows that the stores of this process write, by table: what lmdb is given, after the group commit.
 *
 * Relies on lmdb assigning its functions to a class that extends `EventEmitter`, one for each opened folder: accessors
 * of the base class receive them. So counting begins before a store is opened.
 */

/** A row that was put or removed. */
export type WrittenRow = {
  table: string;
  key: string;
  /** Bytes of key and value; a removed row has no value. */
  bytes: number;
};

export type WriteCounter = {
  /** Returns the writes since the last call, in their order. */
  take(): WrittenRow[];
  stop(): void;
};

type Write = (this: { name?: string | null }, ...args: unknown[]) => unknown;

const NAMES = ['put', 'remove'] as const;

export const countWrites = (): WriteCounter => {
  let rows: WrittenRow[] = [];
  for (const name of NAMES) {
    Object.defineProperty(EventEmitter.prototype, name, {
      configurable: true,
      set(write: Write) {
        const value: Write = function (...args) {
          const [key, stored] = args;
          const bytes = bytesOfKey(key) + (name === 'put' ? bytesOfValue(stored) : 0);
          rows.push({ table: this.name ?? '', key: JSON.stringify(key), bytes });
          return write.apply(this, args);
        };
        Object.defineProperty(this, name, { value, configurable: true, writable: true });
      },
    });
  }
  return {
    take() {
      const taken = rows;
      rows = [];
      return taken;
    },
    stop() {
      for (const name of NAMES) Reflect.deleteProperty(EventEmitter.prototype, name);
    },
  };
};

/** A number takes nine bytes, a text one in addition to its own, which separates it from the next part. */
const bytesOfKey = (key: unknown): number =>
  (Array.isArray(key) ? key : [key]).reduce<number>(
    (sum, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) + 1 : 9),
    0,
  );

/** Rows are written as bytes, which lmdb wraps, except for counters. */
const bytesOfValue = (stored: unknown): number => {
  const [bytes] = typeof stored === 'object' && stored !== null ? Object.values(stored) : [];
  return bytes instanceof Uint8Array ? bytes.length : String(stored).length;
};
