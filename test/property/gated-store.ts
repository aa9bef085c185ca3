import { Unavailable } from '../../src/schema/outcome.ts';
import { type Batch, collectCallbacks, runCallbacks } from '../../src/store/engine/batch.ts';
import type { Store } from '../../src/store/index.ts';

/**
 * The store of one process, with a gate in front of its commits: a test decides when the next commit is written, when
 * written data is flushed, and which commits the end of the process discards. Behind the gate is the real store.
 * Commits keep their order, as in the group commit of the store, so the end of the process keeps a prefix of them.
 */

type Commit = { batch: Batch; kind: 'progress' | 'input'; resolve(): void; reject(error: unknown): void };

export type GatedStore = {
  readonly store: Store;
  /** Commits that wait to be written. */
  waiting(): number;
  /** Writes this many commits, and resolves those that do not wait for a flush. */
  write(count: number): Promise<void>;
  flush(): void;
  unflushed(): number;
  /** Rejects all waiting commits and later ones until `accept`. */
  refuse(): void;
  accept(): void;
  /** Ends the process: nothing of it is written or resolved afterwards. */
  end(): void;
  ended(): boolean;
};

const FULL = 'the disk is full';

export const gateStore = (real: Store, scope: string): GatedStore => {
  let queue: Commit[] = [];
  let written: Commit[] = [];
  let refusing = false;
  let ended = false;

  const drop = (): Commit[] => {
    const dropped = queue;
    queue = [];
    for (const { batch } of dropped) collectCallbacks(batch);
    return dropped;
  };

  const commit: Store['commit'] = (batch, kind = 'progress') => {
    if (ended) return new Promise(() => {});
    if (refusing) return Promise.reject(new Unavailable(FULL));
    if (batch.writes.length === 0) return Promise.resolve();
    // Later batches must already include it, as in the real store.
    runCallbacks(batch);
    return new Promise((resolve, reject) => queue.push({ batch, kind, resolve, reject }));
  };

  /** Other sequences of the test use the same store: their rows are skipped without shortening a page. */
  const own =
    <Row extends { scope: string }>(read: (after: Row | undefined, limit: number) => Row[]) =>
    (after: Row | undefined): Row[] =>
      after ? [] : read(undefined, Number.MAX_SAFE_INTEGER).filter((row) => row.scope === scope);

  return {
    store: {
      ...real,
      commit,
      dispatches: { ...real.dispatches, open: own(real.dispatches.open), ended: () => [] },
      pending: { ...real.pending, all: own(real.pending.all) },
      awaiting: { ...real.awaiting, all: own(real.awaiting.all) },
      driven: { ...real.driven, all: own(real.driven.all) },
    },
    waiting: () => queue.length,
    async write(count) {
      const group = queue.slice(0, count);
      if (group.length === 0) return;
      queue = queue.slice(count);
      await Promise.all(group.map(({ batch }) => real.commit(batch)));
      for (const { batch } of queue) runCallbacks(batch);
      written.push(...group.filter(({ kind }) => kind === 'input'));
      for (const { kind, resolve } of group) if (kind === 'progress') resolve();
    },
    flush() {
      const flushed = written;
      written = [];
      for (const { resolve } of flushed) resolve();
    },
    unflushed: () => written.length,
    refuse() {
      refusing = true;
      for (const { reject } of drop()) reject(new Unavailable(FULL));
    },
    accept() {
      refusing = false;
    },
    end() {
      ended = true;
      drop();
      written = [];
    },
    ended: () => ended,
  };
};
