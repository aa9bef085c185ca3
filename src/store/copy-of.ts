import type { Batch, Rows } from './engine/batch.ts';
import type { Environment } from './engine/environment.ts';
import { COMMONS } from './engine/lineage.ts';
import type { Shipping } from './engine/shipping.ts';
import type { Ship } from './engine/table.ts';
import type { RunTable } from './tables/runs.ts';
import type { ThreadTable } from './tables/threads.ts';

/** The connection of a store to the database that it is a copy of; see `copy.ts`. */

/** The part of a table in the database. */
export type TableKind = NonNullable<ReturnType<Shipping['kindOf']>> & { ship: Ship };

export type CopyOf = Pick<Shipping, 'sink' | 'copyBroken'> & { kinds: ReadonlyMap<string, TableKind> };

export const createShipping = (
  env: Environment,
  { sink, kinds, copyBroken }: CopyOf,
  lineageOf: Shipping['lineageOf'],
): Shipping => {
  const byRows = new Map<Rows, TableKind>();
  for (const [name, kind] of kinds) {
    env.table(name);
    const rows = env.tables.get(name);
    if (rows) byRows.set(rows, kind);
  }
  return { sink, copyBroken, lineageOf, kindOf: (rows) => byRows.get(rows) };
};

/** The rows of a run that is not stored have the lineage of a thread with its id. */
export const findLineage = (
  { threads, runs }: { threads: ThreadTable; runs: RunTable },
  batch: Batch,
): bigint | null => {
  const { place } = batch;
  if (place === 'commons') return COMMONS;
  if (place === 'member') return null;
  const { scope } = place;
  const thread_id = 'thread_id' in place ? place.thread_id : runs.get(scope, place.run_id)?.thread_id;
  return threads.lineageOf(scope, thread_id ?? ('run_id' in place ? place.run_id : ''), batch);
};
