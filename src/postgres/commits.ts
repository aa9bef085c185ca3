import type { ShippedBatch, ShippedRow } from '../store/engine/sink.ts';
import { APPEND_KINDS } from './migrations/functions-1.ts';

/**
 * The rows of one commit: batches of a group, merged. Of a row that several of them write, the last value counts.
 *
 * A batch that the database would judge otherwise alone than merged begins the next commit: one that writes a row of an
 * append kind, or of another lineage, that an earlier batch of the commit has written, or that writes a lineage which an
 * earlier one releases.
 */
export type Commit = {
  owners: Set<bigint>;
  births: Set<bigint>;
  releases: Map<bigint, number | null>;
  gone: Map<string, { kind: number; key: string }>;
  rows: Map<string, ShippedRow>;
};

const MOST_ROWS = 4000;
const MOST_BYTES = 8 * 2 ** 20;

/** Merges as many batches as one commit takes, but at least one. Returns the number of batches with the commit. */
export const takeCommit = (batches: readonly ShippedBatch[]): { commit: Commit; taken: number } => {
  const commit: Commit = {
    owners: new Set(),
    births: new Set(),
    releases: new Map(),
    gone: new Map(),
    rows: new Map(),
  };
  let rows = 0;
  let bytes = 0;
  let taken = 0;
  for (const batch of batches) {
    rows += batch.rows.length + batch.gone.length;
    bytes += valueBytes(batch);
    if (taken > 0 && (rows > MOST_ROWS || bytes > MOST_BYTES || !canFollow(commit, batch))) break;
    add(commit, batch);
    taken += 1;
  }
  return { commit, taken };
};

const valueBytes = ({ rows }: ShippedBatch): number => {
  let bytes = 0;
  for (const { value } of rows) bytes += Buffer.byteLength(value);
  return bytes;
};

const identity = ({ kind, key }: { kind: number; key: string }): string => `${kind} ${key}`;

const IS_APPENDED = new Set<number>(APPEND_KINDS);

const canFollow = (commit: Commit, { owners, births, gone, rows }: ShippedBatch): boolean => {
  const isReleased = (lineage: bigint): boolean => commit.releases.has(lineage);
  if (owners.some(isReleased) || births.some(isReleased)) return false;
  if (gone.some((each) => IS_APPENDED.has(each.kind) && commit.rows.has(identity(each)))) return false;
  return rows.every((row) => {
    const earlier = commit.rows.get(identity(row));
    return !earlier || (earlier.lineage === row.lineage && !IS_APPENDED.has(row.kind));
  });
};

const add = (commit: Commit, { owners, births, releases, gone, rows }: ShippedBatch): void => {
  for (const lineage of owners) commit.owners.add(lineage);
  for (const lineage of births) commit.births.add(lineage);
  for (const { lineage, due } of releases) commit.releases.set(lineage, due);
  for (const each of gone) {
    const id = identity(each);
    commit.gone.set(id, each);
    commit.rows.delete(id);
  }
  for (const row of rows) commit.rows.set(identity(row), row);
};
