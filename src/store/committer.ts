import { Unavailable } from '../schema/outcome.ts';
import { type Batch, createBatch, postNotes, takeNotesDown, type Write } from './batch.ts';
import type { Counters } from './counters.ts';
import { diskReason } from './disk-reason.ts';
import { type Environment, encoded, type Transaction } from './environment.ts';
import { reasonOf } from './folder.ts';
import { type NetWrite, netWrites } from './net-writes.ts';
import { createWritability, type Writability } from './writability.ts';

/**
 * Group commit. Everything committed in one turn of the event loop, and everything that came while the last
 * transaction was being written, goes into the next transaction, in the order of the calls.
 *
 * Guarantees: a batch is applied whole or not at all; a batch never becomes visible before one that was
 * committed earlier. One transaction is written at a time, so what a batch adds to a counter is added to the
 * committed value. When a transaction fails, all that waits behind it is refused with it: those batches were
 * built on rows that do not exist. When it is there and its flush fails, nothing is written after it, see
 * `writability.ts`. Costs one write a changed row, and one a changed counter, however many batches
 * changed it. The flush of a transaction overlaps the writing of the next one.
 */

export type CommitKind = 'progress' | 'input';

export type Committer = Pick<Writability, 'writable' | 'onRecovered' | 'check'> & {
  commit(batch: Batch, kind: CommitKind): Promise<void>;
  /** Refuses new commits; resolves when the ones under way are flushed or have failed. */
  close(): Promise<void>;
};

type Commit = { batch: Batch; waitsForFlush: boolean; resolve(): void; reject(error: unknown): void };

export const createCommitter = (
  env: Pick<Environment, 'codecs' | 'structures' | 'transaction'>,
  counters: Counters,
  {
    dir,
    durability,
    probe,
  }: { dir: string; durability: 'process' | 'power'; probe: (bytes: number) => Write },
): Committer => {
  let waiting: Commit[] = [];
  let scheduled = false;
  let writing = false;
  let refusal: Unavailable | undefined;
  let closed = false;
  const unflushed = new Set<Promise<unknown>>();

  const schedule = (): void => {
    if (scheduled || writing || waiting.length === 0) return;
    scheduled = true;
    setImmediate(writeGroup);
  };

  const writeGroup = (): void => {
    scheduled = false;
    writing = true;
    const group = waiting;
    waiting = [];
    const transaction = state.unconfirmed ? refusedWith(state.unconfirmed) : hand(group);
    const flushed = transaction.flushed.catch((error: unknown) => flushFailed(transaction, error));
    unflushed.add(flushed);
    flushed.then(() => unflushed.delete(flushed));
    transaction.visible.then(
      () => succeed(group, transaction),
      (error: unknown) => fail(group, error),
    );
  };

  const hand = (group: Commit[]): Transaction => {
    try {
      const batches = group.map((commit) => commit.batch);
      const tables = netWrites(batches);
      const counts = counters.settle(batches);
      return env.transaction(() => {
        writeStructures(env);
        for (const writes of tables) for (const write of writes) apply(write);
        for (const [key, count] of counts) counters.write(key, count);
      });
    } catch (error) {
      return refusedWith(error);
    }
  };

  /** Says nothing when the transaction failed as a whole. */
  const flushFailed = (transaction: Transaction, error: unknown): Promise<void> =>
    transaction.visible.then(
      () => state.notConfirmed(unconfirmed(dir, error)),
      () => {},
    );

  const succeed = (group: Commit[], transaction: Transaction): void => {
    state.succeeded();
    for (const { batch } of group) takeNotesDown(batch);
    for (const { batch } of group) for (const act of batch.afterwards) act();
    for (const commit of group) if (!commit.waitsForFlush) commit.resolve();
    const rest = group.filter((commit) => commit.waitsForFlush);
    if (rest.length > 0) {
      transaction.flushed.then(
        () => {
          for (const commit of rest) commit.resolve();
        },
        (error: unknown) => {
          for (const commit of rest) commit.reject(unconfirmed(dir, error));
        },
      );
    }
    writing = false;
    schedule();
  };

  const fail = (group: Commit[], error: unknown): void => {
    const refused = [...group, ...waiting];
    waiting = [];
    for (const codec of env.codecs) codec.putBack();
    // Whoever waits learns of it within this turn. Until then nobody may build on what was refused: what is built
    // all the same, by those who do not know yet, is refused with it, and finds the rows that it was built on.
    const reason = state.unconfirmed ?? unwritable(dir, diskReason(dir, error));
    state.failed(bytesOf(refused));
    refusal = reason;
    for (const commit of refused) commit.reject(reason);
    setImmediate(() => {
      for (const { batch } of refused) takeNotesDown(batch);
      refusal = undefined;
      writing = false;
      schedule();
    });
  };

  const commit = (batch: Batch, kind: CommitKind): Promise<void> => {
    if (closed) return Promise.reject(new Unavailable(`the store in '${dir}' is closed`));
    const refused = state.unconfirmed ?? refusal;
    if (!refused && batch.writes.length === 0) {
      for (const act of batch.afterwards) act();
      return Promise.resolve();
    }
    postNotes(batch);
    if (refused) {
      setImmediate(takeNotesDown, batch);
      return Promise.reject(refused);
    }
    return new Promise((resolve, reject) => {
      const waitsForFlush = kind === 'input' && durability === 'power';
      waiting.push({ batch, waitsForFlush, resolve, reject });
      if (kind === 'input' && !writing && !scheduled) writeGroup();
      else schedule();
    });
  };

  const state = createWritability((bytes) => {
    const batch = createBatch();
    batch.writes.push(probe(bytes));
    return commit(batch, 'input');
  });

  return {
    commit,
    get writable() {
      return state.writable;
    },
    onRecovered: state.onRecovered,
    check: state.check,
    async close() {
      closed = true;
      state.close();
      while (writing || scheduled || unflushed.size > 0) {
        if (unflushed.size > 0) await Promise.all(unflushed);
        await new Promise(setImmediate);
      }
    },
  };
};

const refusedWith = (error: unknown): Transaction => {
  const refused = Promise.reject(error);
  return { visible: refused, flushed: refused };
};

const unwritable = (dir: string, cause: unknown): Unavailable =>
  new Unavailable(
    `storage folder '${dir}' cannot be written (${reasonOf(cause)}): free space on its disk, or raise the limit that it ran into, then try again`,
    { cause },
  );

const unconfirmed = (dir: string, cause: unknown): Unavailable =>
  new Unavailable(
    `the disk of storage folder '${dir}' did not confirm what was written (${reasonOf(cause)}): it can be read now and may be lost with the next loss of power, so look for it before you send it again; nothing more is stored until the disk is checked and the service is started anew`,
    { cause },
  );

const bytesOf = (commits: readonly Commit[]): number =>
  commits
    .flatMap(({ batch }) => batch.writes)
    .reduce((sum, write) => sum + ('value' in write ? write.value.length : 0), 0);

/** Structures are written before the rows that use them. */
const writeStructures = (env: Pick<Environment, 'codecs' | 'structures'>): void => {
  for (const codec of env.codecs) {
    const structures = codec.takeChanged();
    if (structures) env.structures.put(codec.key, encoded(structures));
  }
};

const apply = ({ rows, key, value }: NetWrite): void => {
  if (value) rows.put(key, encoded(value));
  else rows.remove(key);
};
