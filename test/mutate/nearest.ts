import type { Metafile } from 'esbuild';
import { PROGRAM } from '../run/bundle.ts';

/**
 * Which tests are the nearest to a source file: those that reach it by the fewest imports, but before them those of
 * the same name, as one file that starts the whole service is as near as another.
 */

export interface Nearest {
  /** The nearest first. */
  files: string[];
  /** No test imports the source: these start the program that is built of it. */
  inProgram: boolean;
}

/** They take minutes, and what they start is the built program. */
const LONG = /^test\/(?:crash|readme|examples|interop)\/|^test\/load\/bench\.test/;

/** Of those that start the built program, the short ones. */
const STARTING = /^test\/e2e\//;

/** What tests import that start the built program. */
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

/** So that `delegate` and `delegation`, `thread` and `threads` are the same. */
const stemOf = (word: string): string => word.replace(/s$/, '').slice(0, 6);

/** The folders of a path but for the first, and the words of the name of its file. */
const namesIn = (path: string): { folders: string[]; words: string[] } => {
  const folders = path.split('/').slice(1);
  const name = folders.pop()?.replace(/(?:\.test)?\.tsx?$/, '') ?? '';
  return { folders: folders.map(stemOf), words: name.split(/[-.]/).map(stemOf) };
};

/** In imports: what a file is called says more than where it lies. */
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
