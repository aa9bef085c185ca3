import { rmSync } from 'node:fs';
import { openStore } from '../../src/store/index.ts';
import type { Broken } from './broken.ts';
import { acknowledgedIn } from './ledger.ts';
import { below } from './random.ts';
import type { World } from './world.ts';

/**
 * Copies of a data directory while a service writes to it. A complete copy contains everything that was acknowledged
 * before it started and has no defects; a killed copy leaves the service intact.
 */

/** A copy, with the runs acknowledged before it started. */
export type Copy = { folder: string; runs: readonly string[] };

const SHARE = 0.6;
const KILLED = 0.4;
const MOST_MS = 400;
const SCOPE = 'default';

/** Copies the directory during some of the lives. Undefined if no copy was made, or it was killed. */
export const copyOf = async ({ service, ledger, random }: World): Promise<Copy | undefined> => {
  if (random() > SHARE) return undefined;
  const runs = acknowledgedIn(ledger).flatMap(({ run_id }) => run_id ?? []);
  const folder = await service.backup(random() < KILLED ? below(random, MOST_MS) : undefined);
  return folder === undefined ? undefined : { folder, runs };
};

export const checkCopy = async (broken: Broken, { service, ledger }: World, copy: Copy): Promise<void> => {
  const { folder, runs } = copy;
  ledger.copies += 1;
  service.giveKey(folder);
  const found = await service.examine(folder);
  if (found !== '') broken.note('kept', `troupe doctor finds in a backup: ${found}`);
  const store = await openStore({ dir: folder, durability: 'process' });
  const lost = runs.filter((run_id) => store.runs.get(SCOPE, run_id) === undefined);
  await store.close();
  if (lost.length > 0)
    broken.note('lost', `a backup lacks ${lost.length} of ${runs.length} runs: ${lost[0]}`);
  rmSync(folder, { recursive: true });
};
