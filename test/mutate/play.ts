import { SEED } from '../random.ts';
import { bundle } from '../run/bundle.ts';
import { inProject, Places } from '../run/places.ts';
import { type Ended, runGroup } from '../run/processes.ts';
import type { Mutant } from './mutants.ts';

/** Of the tests that reach a file: the nearest, and what is tried when these notice nothing. */
const STAGES = [
  [0, 10],
  [10, 40],
] as const;

/** A change may make a loop that does not end. */
const FILE_MS = 120_000;

/** Tests that start the built program, or measure, do not see the change or take minutes. */
const BLIND = /^test\/(?:crash|e2e|load|readme|examples|interop)\//;

/** @returns the test file that noticed, with nothing when none did */
export const play = async (
  mutant: Mutant,
  nearest: readonly string[],
  folder: string,
): Promise<string | undefined> => {
  const places = new Places(inProject(folder));
  const seeing = nearest.filter((file) => !BLIND.test(file));
  for (const [from, to] of STAGES) {
    const files = seeing.slice(from, to);
    if (files.length === 0) continue;
    await bundle(files, places, { [mutant.file]: mutant.text });
    const ended: Ended[] = [];
    await runGroup(files, { places, seed: SEED, fileMs: FILE_MS, bail: true }, (end) => ended.push(end));
    const killer = ended.find(({ ok }) => !ok);
    if (killer) return killer.broken ? `${killer.file} (${killer.broken})` : killer.file;
  }
  return undefined;
};
