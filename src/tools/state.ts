import type { z } from 'zod';

/**
 * Keyed state of runs and threads (agent-loop.md 13), as tools and plugins see it: they read a frozen view and
 * return updates; the loop applies them.
 */

/** `run`: cleared at the start of a run and stored with it. `thread`: survives runs. */
export type StateScope = 'run' | 'thread';

export type StateKey<Value> = {
  readonly key: string;
  readonly scope: StateScope;
  /** Not part of the snapshots that clients get. */
  readonly hidden: boolean;
  readonly schema: z.ZodType<Value>;
};

export type StateView = { get<Value>(key: StateKey<Value>): Value | undefined };

/** `undefined` removes the key. */
export type StateUpdate = { readonly key: StateKey<unknown>; readonly value: unknown };

/** Values are JSON of this schema; other keys of the same name must not exist. */
export const defineState = <Value>(key: {
  key: string;
  scope: StateScope;
  hidden?: boolean;
  schema: z.ZodType<Value>;
}): StateKey<Value> => ({ hidden: false, ...key });

export const update = <Value>(key: StateKey<Value>, value: Value | undefined): StateUpdate => ({
  key,
  value,
});
