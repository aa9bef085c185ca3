import { SEED } from '../random.ts';
import { buildProgram, bundle } from '../run/bundle.ts';
import { inProject, Places } from '../run/places.ts';
import { type Ended, runFiles } from '../run/processes.ts';
import type { Mutant } from './mutants.ts';
import type { Nearest } from './nearest.ts';

/** Ranges of the nearest tests that are run in order, until a test fails. */
const STAGES = [
  [0, 10],
  [10, 40],
  [40, 100],
] as const;

/** A change may cause an infinite loop. */
const FILE_MS = 120_000;

/**
 * The outcome of a change. A file that `ran out of time` may have detected an infinite loop, or the host may be slow.
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

export const play = async (mutant: Mutant, nearest: Nearest, folder: string): Promise<Fate> => {
  const places = new Places(inProject(folder));
  const replaced = { [mutant.file]: mutant.text };
  const program = nearest.inProgram ? inProject(`${folder}/program`) : undefined;
  if (program !== undefined) await buildProgram(program, replaced);
  for (const [from, to] of STAGES) {
    const files = nearest.files.slice(from, to);
    if (files.length === 0) continue;
    await bundle(files, places, replaced);
    const ended: Ended[] = [];
    const options = { places, seed: SEED, fileMs: FILE_MS, bail: true, ...(program && { program }) };
    await runFiles(files, options, (end) => ended.push(end));
    const fate = fateOf(ended);
    if (fate.kind !== 'survived') return fate;
  }
  return { kind: 'survived' };
};
