import type { RootDatabase } from 'lmdb';
import { hasOwnState } from '../../schema/run-state.ts';
import type { Rows } from '../engine/batch.ts';
import { encoded } from '../engine/environment.ts';
import type { Key } from '../engine/keys.ts';
import type { RunRow } from '../tables/runs.ts';
import type { Entry } from './derived.ts';
import type { DoctorTables, Note } from './doctor-tables.ts';
import { rowVersion, WITH_RUN_STATES } from './format.ts';
import { otherRows, stateInRecord, stateInRows, withState } from './old-run-states.ts';

/**
 * Checks the stored states of runs: each must agree with the rest of its record. A missing or wrong state is derived
 * again.
 *
 * Guarantees: the checked rows have a state, whether they are repaired or not, so that their indexes can be compared.
 * Rows of older formats, which have no state, are no findings: the next start adds it.
 * Cost: memory for one slice of repaired rows.
 */

export type StateCheck = {
  check(entry: Entry): Entry;
  /** Writes the remaining repairs. */
  end(): void;
};

const WRONG = 'a run whose state is missing or contradicts its record';
const MOST_REPAIRS = 500;

export const createStateCheck = (
  root: RootDatabase,
  { tables, repair }: { tables: DoctorTables; repair: boolean },
  note: Note,
): StateCheck => {
  const meta: Rows = root.openDB('meta', {});
  const isOlder = (rowVersion(meta) ?? WITH_RUN_STATES) < WITH_RUN_STATES;
  const others = otherRows((name) => tables.get(name)?.rows);
  let repairs: { key: Key; row: RunRow }[] = [];

  const write = (): void => {
    const table = tables.get('runs');
    const { codec } = table ?? {};
    const structures: Rows = root.openDB('structures', { encoding: 'json' });
    root.transactionSync(() => {
      for (const { key, row } of repairs) if (codec) table?.rows.putSync(key, encoded(codec.encode(row)));
      const changed = codec?.takeChanged();
      if (codec && changed) structures.putSync(codec.key, encoded(changed));
    });
    repairs = [];
  };

  return {
    check({ key, value }) {
      // The table of runs has written the row.
      const row = value as RunRow;
      if (hasOwnState(row.run)) return { key, value };
      if (!isOlder) note(WRONG, 'runs', key, repair);
      const state = isOlder ? stateInRecord(row.run) : stateInRows(String(key[0]), row.run, others);
      const repaired = { ...row, run: withState(row.run, state) };
      if (repair && !isOlder) repairs.push({ key, row: repaired });
      if (repairs.length === MOST_REPAIRS) write();
      return { key, value: repaired };
    },
    end() {
      if (repairs.length > 0) write();
    },
  };
};
