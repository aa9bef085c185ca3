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
const BLIND = /^test\/(?:crash|e2e|readme|examples|interop)\/|^test\/load\/bench\.test/;

/**
 * What became of a change. A file that `ran out of time` may have noticed a loop that does not end, or have come upon
 * a slow machine.
 */
export type Fate =
  | { kind: 'survived' }
  | { kind: 'killed' | 'ran out of time'; file: string; broken: string | undefined };

export const fateOf = (ended: readonly Pick<Ended, 'file' | 'ok' | 'broken' | 'late'>[]): Fate => {
  const killer = ended.find(({ ok }) => !ok);
  if (!killer) return { kind: 'survived' };
  const { file, broken, late } = killer;
  return { kind: late ? 'ran out of time' : 'killed', file, broken };
};

export const play = async (mutant: Mutant, nearest: readonly string[], folder: string): Promise<Fate> => {
  const places = new Places(inProject(folder));
  const seeing = nearest.filter((file) => !BLIND.test(file));
  for (const [from, to] of STAGES) {
    const files = seeing.slice(from, to);
    if (files.length === 0) continue;
    await bundle(files, places, { [mutant.file]: mutant.text });
    const ended: Ended[] = [];
    await runGroup(files, { places, seed: SEED, fileMs: FILE_MS, bail: true }, (end) => ended.push(end));
    const fate = fateOf(ended);
    if (fate.kind !== 'survived') return fate;
  }
  return { kind: 'survived' };
};
