import type { z } from 'zod';

/**
 * Keyed state of runs and threads (agent-loop.md 13), as used by tools and plugins: they read a frozen view and return
 * updates, which the loop applies.
 */

/** `run`: cleared at the start of a run and stored with it. `thread`: survives runs. */
export type StateScope = 'run' | 'thread';

/**
 * A key of the state of a run or thread, with the type of its value. `defineState` makes it.
 *
 * @example
 * ```ts
 * const visits: StateKey<number> = defineState({ key: 'visits', scope: 'thread', schema: z.number() });
 * ```
 */
export type StateKey<Value> = {
  readonly key: string;
  readonly scope: StateScope;
  /** Excluded from snapshots for clients. */
  readonly hidden: boolean;
  readonly schema: z.ZodType<Value>;
};

/**
 * The state that a tool or a hook reads. Its values are frozen.
 *
 * @example
 * ```ts
 * const visits = defineState({ key: 'visits', scope: 'thread', schema: z.number() });
 * const countIn = (state: StateView): number => state.get(visits) ?? 0;
 * ```
 */
export type StateView = { get<Value>(key: StateKey<Value>): Value | undefined };

/**
 * A change of one key, which `update` makes. A value of `undefined` removes the key.
 *
 * @example
 * ```ts
 * const visits = defineState({ key: 'visits', scope: 'thread', schema: z.number() });
 * const changes: StateUpdate[] = [update(visits, 1)];
 * ```
 */
export type StateUpdate = { readonly key: StateKey<unknown>; readonly value: unknown };

/**
 * Defines a key of the state of runs or threads (agent-loop.md 13). Its values are JSON of the schema; its name must
 * be unique among all tools and plugins of the service.
 *
 * @example
 * ```ts
 * const visits = defineState({ key: 'visits', scope: 'thread', schema: z.number() });
 * const counter = defineTool({
 *   id: 'visit',
 *   description: 'Counts the visits to this conversation.',
 *   input: z.object({}),
 *   execute: (_args, { state }) => {
 *     const count = (state.get(visits) ?? 0) + 1;
 *     return { data: { count }, state: [update(visits, count)] };
 *   },
 * });
 * ```
 */
export const defineState = <Value>(key: {
  key: string;
  scope: StateScope;
  hidden?: boolean;
  schema: z.ZodType<Value>;
}): StateKey<Value> => ({ hidden: false, ...key });

/**
 * Returns a change of one key of the state, for the output of a tool or the outcome of a hook.
 *
 * @example
 * ```ts
 * const mood = defineState({ key: 'mood', scope: 'run', hidden: true, schema: z.enum(['calm', 'tense']) });
 * const set = update(mood, 'calm');
 * const remove = update(mood, undefined);
 * ```
 */
export const update = <Value>(key: StateKey<Value>, value: Value | undefined): StateUpdate => ({
  key,
  value,
});
