import { Unavailable } from '../../src/schema/outcome.ts';
import { type Batch, postNotes, takeNotesDown } from '../../src/store/batch.ts';
import type { Store } from '../../src/store/index.ts';

/**
 * The store as one process sees it, with a gate in front of its commits: a test says when the next of them is
 * written, when what was written is flushed, and which of them the end of the process takes away. What is behind
 * the gate is the real store. Commits keep their order, as the group commit of the store keeps it, so an end of
 * the process leaves some of the first ones and none of the others.
 */

type Commit = { batch: Batch; kind: 'progress' | 'input'; resolve(): void; reject(error: unknown): void };

export type GatedStore = {
  readonly store: Store;
  /** Commits that wait to be written. */
  waiting(): number;
  /** Writes so many of them; those that wait for a flush are answered by it. */
  write(count: number): Promise<void>;
  flush(): void;
  unflushed(): number;
  /** Refuses everything that waits, and what comes until `accept`. */
  refuse(): void;
  accept(): void;
  /** The process ends: nothing of it is written or answered any more. */
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
    for (const { batch } of dropped) takeNotesDown(batch);
    return dropped;
  };

  const commit: Store['commit'] = (batch, kind = 'progress') => {
    if (ended) return new Promise(() => {});
    if (refusing) return Promise.reject(new Unavailable(FULL));
    if (batch.writes.length === 0) return Promise.resolve();
    // What is built next has to know of it already, as in the real store.
    postNotes(batch);
    return new Promise((resolve, reject) => queue.push({ batch, kind, resolve, reject }));
  };

  /** Other sequences of the test use the same store: what is theirs is passed over, and no page is cut short. */
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
      for (const { batch } of queue) postNotes(batch);
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
