import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './environment.ts';

/** The size of a store. Cost: some 10 microseconds per table: LMDB maintains these numbers, so no rows are read. */

export type StoreStats = {
  /** Size of the file; it never shrinks. */
  file_bytes: number;
  /** Size of the pages in use. */
  used_bytes: number;
  page_bytes: number;
  pages: number;
  /** Pages that are reused before the file grows. */
  free_pages: number;
  /** Slots of processes and their snapshots in the table of readers. */
  readers: number;
  rows: Record<string, number>;
};

type Tree = {
  entryCount: number;
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
};
type Numbers = Tree & {
  pageSize: number;
  lastPageNumber: number;
  numReaders: number;
  free: Tree;
  root: Tree;
};

const META_PAGES = 2;

export const readStats = (env: Pick<Environment, 'root' | 'tables'>, dir: string): StoreStats => {
  // lmdb types the result as an empty object; its shape is that of lmdb 3.5.
  const numbersOf = (rows: { getStats(): object }) => rows.getStats() as Numbers;
  const tables = Array.from(env.tables, ([name, rows]) => [name, numbersOf(rows)] as const);
  const { pageSize, lastPageNumber, numReaders, free, root } = numbersOf(env.root);
  const used = [free, root, ...tables.map(([, numbers]) => numbers)].reduce(
    (sum, tree) => sum + pagesOf(tree),
    META_PAGES,
  );
  const pages = lastPageNumber + 1;
  return {
    file_bytes: statSync(join(dir, 'data.mdb')).size,
    used_bytes: used * pageSize,
    page_bytes: pageSize,
    pages,
    free_pages: pages - used,
    readers: numReaders,
    rows: Object.fromEntries(tables.map(([name, { entryCount }]) => [name, entryCount])),
  };
};

const pagesOf = ({ treeBranchPageCount, treeLeafPageCount, overflowPages }: Tree): number =>
  treeBranchPageCount + treeLeafPageCount + overflowPages;
