import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Test } from 'tap';
import { type CopyOptions, openCopy } from '../../src/store/copy.ts';
import type { Store } from '../../src/store/index.ts';
import { LOCAL } from '../../src/store/kinds.ts';
import { type Dump, dump } from './dump.ts';
import { createMemorySink, type MemorySink } from './memory-sink.ts';

export type Copy = { dir: string; sink: MemorySink; store: Store; broken: Error[] };

/** A store with a sink; it begins with the rows that the sink has. */
export const copyFor = async (
  t: Test,
  sink: MemorySink = createMemorySink(),
  options: Partial<CopyOptions> = {},
  dir: string = mkdtempSync(join(tmpdir(), 'troupe-copy-')),
): Promise<Copy> => {
  const broken: Error[] = [];
  const store = await openCopy({
    durability: 'process',
    secretsKey: 'the key of the cluster',
    rows: sink.pages(),
    copyBroken: (error) => broken.push(error),
    ...options,
    dir,
    sink,
  });
  // The key of links.
  sink.groups.length = 0;
  t.teardown(async () => {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { dir, sink, store, broken };
};

/** The rows of all tables that copies have in common. */
const commonRows = async (dir: string): Promise<Dump> => {
  const rows = await dump(dir);
  for (const name of LOCAL) rows.delete(name);
  return rows;
};

/** Compares a copy with one that is loaded from its sink, row by row. Closes both. */
export const checkLoad = async (t: Test, { dir, sink, store }: Copy): Promise<Dump> => {
  const loaded = await copyFor(t, sink);
  await store.close();
  await loaded.store.close();
  const [expected, found] = [await commonRows(dir), await commonRows(loaded.dir)];
  t.strictSame([...found.keys()].toSorted(), [...expected.keys()].toSorted(), 'the same tables');
  for (const [name, rows] of expected)
    if (!isDeepStrictEqual(found.get(name), rows)) t.strictSame(found.get(name), rows, `${name} row by row`);
  return expected;
};
