import { dirname } from 'node:path';
import type { Metafile } from 'esbuild';

/** Which tests are the nearest to a source file: those that reach it by the fewest imports. */

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

/** Folders that two paths share, from the top without the first. */
const sharedFolders = (file: string, test: string): number => {
  const one = dirname(file).split('/').slice(1);
  const other = dirname(test).split('/').slice(1);
  return one.filter((folder) => other.includes(folder)).length;
};

/** @returns test files, the nearest first; of those as near, the one in a folder of the same name */
export const nearestTests = (file: string, graph: Metafile): string[] => {
  const importers = importersOf(graph);
  const distances = new Map([[file, 0]]);
  for (const reached of distances.keys()) {
    const next = (distances.get(reached) ?? 0) + 1;
    for (const importer of importers.get(reached) ?? []) {
      if (!distances.has(importer)) distances.set(importer, next);
    }
  }
  const rank = (test: string): number => (distances.get(test) ?? 0) - 2 * sharedFolders(file, test);
  return [...distances.keys()].filter((test) => test.endsWith('.test.ts')).sort((a, b) => rank(a) - rank(b));
};
