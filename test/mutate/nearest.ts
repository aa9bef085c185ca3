import type { Metafile } from 'esbuild';
import { PROGRAM } from '../run/bundle.ts';

/**
 * Finds the nearest tests of a source file: those that reach it by the fewest imports, after those with a similar name,
 * because all tests that start the whole service are equally near.
 */

export interface Nearest {
  /** Nearest first. */
  files: string[];
  /** True if no test imports the source; the files then start the built program. */
  inProgram: boolean;
}

/** Tests that take minutes and start the built program. */
const LONG = /^test\/(?:crash|docs|examples|interop)\/|^test\/load\/bench\.test/;

/** Short tests that start the built program. */
const STARTING = /^test\/e2e\//;

/** The module that tests import to start the built program. */
const BUILT = 'test/e2e/built.ts';

const importersOf = ({ inputs }: Metafile): Map<string, string[]> => {
  const importers = new Map<string, string[]>();
  for (const [file, { imports }] of Object.entries(inputs)) {
    for (const { path, external } of imports) {
      if (external) continue;
      importers.set(path, [...(importers.get(path) ?? []), file]);
    }
  }
  return importers;
};

/** Equates `delegate` and `delegation`, `thread` and `threads`. */
const stemOf = (word: string): string => word.replace(/s$/, '').slice(0, 6);

/** The folders of a path except the first, and the words of its file name. */
const namesIn = (path: string): { folders: string[]; words: string[] } => {
  const folders = path.split('/').slice(1);
  const name = folders.pop()?.replace(/(?:\.test)?\.tsx?$/, '') ?? '';
  return { folders: folders.map(stemOf), words: name.split(/[-.]/).map(stemOf) };
};

/** Weights in imports: a shared file name counts more than a shared folder. */
const OF_FOLDER = 2;
const OF_WORD = 6;

const likeness = (file: string, test: string): number => {
  const { folders, words } = namesIn(file);
  const other = namesIn(test);
  const names = new Set([...other.folders, ...other.words]);
  const shared = (some: string[]): number => some.filter((name) => names.has(name)).length;
  return OF_FOLDER * shared(folders) + OF_WORD * shared(words);
};

const reaching = (file: string, importers: Map<string, string[]>): string[] => {
  const distances = new Map([[file, 0]]);
  for (const reached of distances.keys()) {
    const next = (distances.get(reached) ?? 0) + 1;
    for (const importer of importers.get(reached) ?? []) {
      if (!distances.has(importer)) distances.set(importer, next);
    }
  }
  const rank = (test: string): number => (distances.get(test) ?? 0) - likeness(file, test);
  return [...distances.keys()].filter((test) => test.endsWith('.test.ts')).sort((a, b) => rank(a) - rank(b));
};

/** @param graph of the tests and of the program */
export const nearestTests = (file: string, graph: Metafile): Nearest => {
  const importers = importersOf(graph);
  const files = reaching(file, importers).filter((test) => !LONG.test(test) && !STARTING.test(test));
  if (files.length > 0) return { files, inProgram: false };
  for (const entry of PROGRAM) importers.set(entry, [...(importers.get(entry) ?? []), BUILT]);
  return { files: reaching(file, importers).filter((test) => !LONG.test(test)), inProgram: true };
};
