import { EventEmitter } from 'node:events';

/**
 * Counts the rows that the stores of this process write, by table: what lmdb is given, after the group commit.
 *
 * Relies on lmdb assigning its functions to a class that extends `EventEmitter`, one for each opened folder: accessors
 * of the base class receive them. So counting begins before a store is opened.
 */

/** A row that was put or removed. */
export type WrittenRow = { table: string; key: string };

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
          rows.push({ table: this.name ?? '', key: JSON.stringify(args[0]) });
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
