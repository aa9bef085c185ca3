import type { Metafile } from 'esbuild';
import { PROGRAM } from '../run/bundle.ts';

/**
 * Which tests are the nearest to a source file: those that reach it by the fewest imports, and among those, as one
 * file that starts the whole service is as near as another, those of the same name.
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

/** The folders of a path but for the first, the name of its file, and the words of that. */
const namesIn = (path: string): Set<string> => {
  const names = path
    .replace(/(?:\.test)?\.tsx?$/, '')
    .split('/')
    .slice(1);
  return new Set([...names, ...(names.at(-1) ?? '').split(/[-.]/)]);
};

const sharedNames = (file: string, test: string): number => {
  const names = namesIn(test);
  return [...namesIn(file)].filter((name) => names.has(name)).length;
};

const reaching = (file: string, importers: Map<string, string[]>): string[] => {
  const distances = new Map([[file, 0]]);
  for (const reached of distances.keys()) {
    const next = (distances.get(reached) ?? 0) + 1;
    for (const importer of importers.get(reached) ?? []) {
      if (!distances.has(importer)) distances.set(importer, next);
    }
  }
  const rank = (test: string): number => (distances.get(test) ?? 0) - 2 * sharedNames(file, test);
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
