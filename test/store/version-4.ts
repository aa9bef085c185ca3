import type { RootDatabase, RootDatabaseOptions } from 'lmdb';
import { createCodec } from '../../src/store/engine/codec.ts';
import { closePrivate, encoded, openRoot } from '../../src/store/engine/environment.ts';
import type { Key } from '../../src/store/engine/keys.ts';
import type { RunRow } from '../../src/store/tables/runs.ts';

/** Rows of runs as version 4 wrote them: without the state. */

const openRuns = (root: RootDatabase) => {
  const structures = root.openDB('structures', { encoding: 'json' });
  const codec = createCodec('runs', structures.get(['runs']));
  // lmdb's type names `encoder` for the root only, but a table accepts it as well.
  const options: RootDatabaseOptions = { encoder: codec.packr };
  return { rows: root.openDB<RunRow, Key>('runs', options), codec, structures };
};

/** Changes the runs of a closed store; `change` returns the row to store. */
export const changeRuns = async (dir: string, change: (row: RunRow) => object): Promise<void> => {
  const root = openRoot(dir);
  const { rows, codec, structures } = openRuns(root);
  root.transactionSync(() => {
    for (const { key, value } of Array.from(rows.getRange()))
      root.openDB('runs', {}).putSync(key, encoded(codec.encode(change(value))));
    structures.putSync(codec.key, encoded(codec.takeChanged() ?? Buffer.from('[]')));
  });
  await closePrivate(root);
};

/** Turns a closed store into one of version 4. */
export const toVersion4 = async (dir: string): Promise<void> => {
  await changeRuns(dir, ({ run: { machine_state: _new, ...run }, ...row }) => ({ ...row, run }));
  const root = openRoot(dir);
  await root.openDB<unknown, string[]>('meta', {}).put(['format'], 4);
  await closePrivate(root);
};

/** Returns the stored states by run id. */
export const storedStates = async (dir: string): Promise<Record<string, unknown>> => {
  const root = openRoot(dir);
  const found = Array.from(openRuns(root).rows.getRange(), ({ value: { run } }) => [
    run.run_id,
    run.machine_state,
  ]);
  await closePrivate(root);
  return Object.fromEntries(found);
};
