import { closeSync, openSync, readSync } from 'node:fs';

/**
 * Walks the pages of a data file that are in use as LMDB does, from the roots down, with plain reads: damage is
 * reported as a finding, whereas LMDB would crash the process.
 * Cost: reads every page except those that only continue a long value; one byte of memory per page.
 */

export type Roots = { free_root: bigint; main_root: bigint; last_page: number };

type Shape = { bytes: number; page_bytes: number };

export type PageFinding = { page: number; what: 'beyond the end of the file' | 'damaged' | 'in use twice' };

const HEADER = 24;
const BRANCH = 0x01;
const LEAF = 0x02;
const LONG_VALUE = 0x01;
const TABLE = 0x02;
const NONE = 0xffff_ffff_ffff_ffffn;
const NODE_HEADER = 8;
const ROOT_IN_TABLE = 40;
const TABLE_BYTES = 48;

/** Pages to check: one page of a tree, or the run of a long value. */
type Todo = { page: bigint; pages: number; isTree: boolean };

export function* pageFindings(file: string, shape: Shape, roots: Roots): Iterable<PageFinding> {
  const descriptor = openSync(file, 'r');
  const whole = Math.floor(shape.bytes / shape.page_bytes);
  const seen = new Uint8Array(roots.last_page + 1);
  const todo: Todo[] = [roots.free_root, roots.main_root].flatMap((page) => treeAt(page));
  try {
    for (let next = todo.pop(); next; next = todo.pop()) {
      const page = Number(next.page);
      const last = page + next.pages - 1;
      if (next.pages < 1 || last > roots.last_page) {
        yield { page, what: 'damaged' };
        continue;
      }
      if (last >= whole) {
        yield { page: Math.max(page, whole), what: 'beyond the end of the file' };
        continue;
      }
      if (seen.subarray(page, last + 1).includes(1)) {
        yield { page, what: 'in use twice' };
        continue;
      }
      seen.fill(1, page, last + 1);
      if (!next.isTree) continue;
      const below = referencesOf(readPage(descriptor, page, shape.page_bytes), page);
      if (below) todo.push(...below);
      else yield { page, what: 'damaged' };
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the first page in use that is missing in the file. */
export const findBeyond = (file: string, shape: Shape, roots: Roots): number | undefined => {
  for (const { page, what } of pageFindings(file, shape, roots)) {
    if (what === 'beyond the end of the file') return page;
  }
  return undefined;
};

const treeAt = (page: bigint): Todo[] => (page === NONE ? [] : [{ page, pages: 1, isTree: true }]);

const readPage = (descriptor: number, page: number, bytes: number): Buffer => {
  const found = Buffer.alloc(bytes);
  readSync(descriptor, found, 0, bytes, page * bytes);
  return found;
};

/** Returns the references of a page, or undefined when it is not a page of a tree. */
const referencesOf = (page: Buffer, number: number): Todo[] | undefined => {
  const flags = page.readUInt16LE(18);
  const isBranch = (flags & BRANCH) !== 0;
  const isLeaf = (flags & LEAF) !== 0;
  const lower = page.readUInt16LE(20);
  const isPage = page.readBigUInt64LE(0) === BigInt(number) && isBranch !== isLeaf;
  if (!isPage || lower % 2 !== 0 || HEADER + lower > page.length) return undefined;
  const found: Todo[] = [];
  for (let at = HEADER; at < HEADER + lower; at += 2) {
    const node = page.readUInt16LE(at) + HEADER;
    const below = node + NODE_HEADER > page.length ? undefined : referencesIn(page, node, isBranch);
    if (!below) return undefined;
    found.push(...below);
  }
  return found;
};

const referencesIn = (page: Buffer, node: number, isBranch: boolean): Todo[] | undefined => {
  const low = page.readUInt32LE(node);
  const flags = page.readUInt16LE(node + 4);
  if (isBranch) return treeAt(BigInt(low) + (BigInt(flags) << 32n));
  const data = node + NODE_HEADER + page.readUInt16LE(node + 6);
  if ((flags & LONG_VALUE) !== 0) {
    if (data + HEADER > page.length) return undefined;
    return [
      { page: page.readBigUInt64LE(data), pages: Number(page.readBigUInt64LE(data + 16)), isTree: false },
    ];
  }
  if (data + low > page.length) return undefined;
  if ((flags & TABLE) === 0) return [];
  return low < TABLE_BYTES ? undefined : treeAt(page.readBigUInt64LE(data + ROOT_IN_TABLE));
};
