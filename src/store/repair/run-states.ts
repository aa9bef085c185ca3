import type { RootDatabase } from 'lmdb';
import type { Rows } from '../engine/batch.ts';
import { encoded } from '../engine/environment.ts';
import type { Key } from '../engine/keys.ts';
import { changedAt, type RunRow } from '../tables/runs.ts';
import { type Opened, openWith, type SlicedMigration } from './migrate.ts';
import { otherRows, readDecodable, stateInRecord, stateInRows, withState } from './old-run-states.ts';

/**
 * Adds the states of runs to their records; up to format 4, each use derived them.
 *
 * Guarantees: the index of runs that wait for tasks follows the records in the same transaction. Rows of any table that do
 * not decode stay as they are.
 * Relies on a later migration, which rebuilds the lists of runs.
 * Cost: one pass over the runs, and memory for one slice. For a run that executes, its last messages are read, for a
 * run that waits, its dispatch, and if that is open, the pending messages of its thread.
 */

const MOST_ROWS = 1000;
const MOST_BYTES = 8 * 2 ** 20;

const AWAITS = 'waiting.forTasks';

export const addRunStates: SlicedMigration = {
  open(root) {
    const tables = openTables(root);
    const { rows: runs, codec } = tables.open('runs');
    const others = otherRows((name) => tables.open(name).rows);
    const { rows: awaiting } = tables.open('awaiting_tasks');
    return (after) => {
      let bytes = 0;
      let last: Key | undefined;
      const start = after === undefined ? {} : { start: [...after], exclusiveStart: true };
      // The keys are read first, since the loop changes the rows.
      for (const found of Array.from(runs.getKeys({ ...start, limit: MOST_ROWS }))) {
        // Keys of this table are a scope and an id.
        const key = found as Key;
        const scope = String(key[0]);
        const row = readRow(runs, key);
        last = key;
        if (!row) continue;
        const run = withState(row.run, stateInRows(scope, row.run, others));
        const changed_at = changedAt(row);
        const value = codec.encode({ ...row, run, changed_at });
        runs.putSync(key, encoded(value));
        const before = withState(row.run, stateInRecord(row.run));
        // Earlier versions listed a run in this state although its wake was queued.
        if (before.machine_state === AWAITS && run.machine_state !== AWAITS) awaiting.removeSync(key);
        bytes += value.length;
        if (bytes > MOST_BYTES) break;
      }
      tables.writeStructures();
      return last;
    };
  },
};

const readRow = (runs: Rows, key: Key): RunRow | undefined => {
  const row = readDecodable(runs, key);
  // Only the table of runs has written its rows.
  return typeof row === 'object' && row !== null && 'run' in row ? (row as RunRow) : undefined;
};

type Tables = { open(name: string): Opened; writeStructures(): void };

const openTables = (root: RootDatabase): Tables => {
  const structures: Rows = root.openDB('structures', { encoding: 'json' });
  const opened = new Map<string, Opened>();
  return {
    open(name) {
      // Only codecs write here, and they write lists of field names.
      const table =
        opened.get(name) ?? openWith(root, name, structures.get([name]) as string[][] | undefined);
      opened.set(name, table);
      return table;
    },
    writeStructures() {
      for (const { codec } of opened.values()) {
        const changed = codec.takeChanged();
        if (changed) structures.putSync(codec.key, encoded(changed));
      }
    },
  };
};
