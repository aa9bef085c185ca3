import { join } from 'node:path';
import { open } from 'lmdb';
import { openStore } from '../../src/store/index.ts';
import { acceptBatch, acceptRows } from './accept-batch.ts';

/**
 * Commits on request to Troupe's store or to bare lmdb. Bare: the same ten records and ten index rows, as twenty puts
 * of one lmdb batch, with the default settings of lmdb.
 */

export type Order = {
  of: 'store' | 'lmdb';
  /** `power` waits for the flush. */
  durability: 'process' | 'power';
  concurrency: number;
  duration_ms: number;
  /** Pause between two commits of a committer. */
  pause_ms: number;
};

export type Answer = { commits: number; seconds: number; milliseconds: number[] };

const dir = process.argv[2] ?? '';

const stores = {
  process: await openStore({ dir: join(dir, 'process'), durability: 'process' }),
  power: await openStore({ dir: join(dir, 'power'), durability: 'power' }),
};
const bare = open({
  path: join(dir, 'bare'),
  noSubdir: false,
  sharedStructuresKey: Symbol.for('structures'),
});

const lmdbCommit = async (durability: Order['durability']): Promise<void> => {
  const { thread_id, message, run, dispatch, events } = acceptRows();
  const records: unknown[] = [{ id: thread_id }, message, run, dispatch, ...events];
  const committed = bare.batch(() => {
    for (const [index, record] of records.entries()) {
      bare.put([thread_id, 'record', index], record);
      bare.put([thread_id, 'index', index], 1);
    }
  });
  await committed;
  if (durability === 'power') await bare.flushed;
};

const storeCommit = (durability: Order['durability']): Promise<void> => {
  const store = stores[durability];
  return store.commit(acceptBatch(store), 'input');
};

const COMMITS = { store: storeCommit, lmdb: lmdbCommit };

const carryOut = async (order: Order): Promise<Answer> => {
  const commit = COMMITS[order.of];
  const milliseconds: number[] = [];
  const began = performance.now();
  const committer = async (): Promise<void> => {
    while (performance.now() - began < order.duration_ms) {
      const started = performance.now();
      await commit(order.durability);
      milliseconds.push(performance.now() - started);
      if (order.pause_ms > 0) await new Promise((resolve) => setTimeout(resolve, order.pause_ms));
    }
  };
  await Promise.all(Array.from({ length: order.concurrency }, committer));
  return { commits: milliseconds.length, seconds: (performance.now() - began) / 1000, milliseconds };
};

process.on('message', async (order: Order) => {
  process.send?.(await carryOut(order));
});
process.on('disconnect', () => process.exit());
