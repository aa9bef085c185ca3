import { randomBytes } from 'node:crypto';
import type { FilePurpose } from '../../schema/file.ts';
import { Integrity } from '../../schema/outcome.ts';
import { baseOf, listsWith } from '../../schema/partition.ts';
import type { Lists } from '../../schema/place.ts';
import type { Batch, Rows } from '../engine/batch.ts';
import type { Counters } from '../engine/counters.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, checkPartition, isId, type Key } from '../engine/keys.ts';
import { merge, type Range } from '../engine/merge.ts';

/**
 * Files, by id, with lists by owner and time, by expiry, and by the thread that they were sent in (openai.md 9). The
 * bytes are in the folder of blobs, once for each content; `blobs` names the files of a content.
 *
 * Guarantees: a file of a thread is in no list but that of its thread. A row, its lists and its name below its content
 * are written together.
 */
export type FileRow = {
  id: string;
  /** The partition of the owner. */
  scope: string;
  sha256: string;
  bytes: number;
  filename: string;
  media_type: string;
  purpose: FilePurpose;
  /** Milliseconds. */
  created_at: number;
  /** Milliseconds. */
  expires_at?: number;
  /** The thread whose message contained the bytes; the file ends with it. */
  thread_id?: string;
};

export type FileQuery = {
  lists: Lists;
  purpose?: FilePurpose | undefined;
  /** Starts after this file. */
  after?: FileRow | undefined;
  /** Oldest first. */
  ascending: boolean;
  limit: number;
};

export type FileTable = {
  get(id: string): FileRow | undefined;
  put(batch: Batch, row: FileRow): void;
  remove(batch: Batch, row: FileRow): void;
  list(query: FileQuery): FileRow[];
  /** Returns up to `limit` files of a partition, those of threads excluded. */
  ownedBy(scope: string, limit: number): FileRow[];
  ofThread(scope: string, thread_id: string): FileRow[];
  /** Returns files that expire before this time, earliest first, at most `max`. */
  expiredBefore(ms: number, max: number): FileRow[];
  /** Whether a file has this content. */
  hasBlob(sha256: string): boolean;
  /** The sum of the bytes of all files of a scope. */
  bytesIn(scope: string): number;
  /** The numbers of all scopes. */
  totals(): { files: number; bytes: number };
  /** The secret that links are signed with. */
  readonly linkKey: Buffer;
};

export const BLOBS = 'blobs';

export const createFileTable = (env: Environment, counters: Counters, linkKey: Buffer): FileTable => {
  const rows = env.table<FileRow>('files');
  const index = env.table<string>('file_index');
  const ends = env.table<true>('file_ends');
  const ofThreads = env.table<true>('thread_files');
  const blobs = env.table<true>(BLOBS);

  const get = (id: string): FileRow | undefined => (isId(id) ? rows.get([id]) : undefined);

  const listed = (id: string): FileRow => {
    const row = get(id);
    if (!row) throw new Integrity(`file '${id}' is listed and has no record`);
    return row;
  };

  return {
    get,
    put(batch, row) {
      checkPartition(row.scope);
      checkId('file id', row.id);
      rows.put(batch, [row.id], row);
      blobs.put(batch, [row.sha256, row.id], true);
      for (const key of placesOf(row)) index.put(batch, key, row.id);
      if (row.expires_at !== undefined) ends.put(batch, [row.expires_at, row.id], true);
      if (row.thread_id !== undefined) ofThreads.put(batch, [row.scope, row.thread_id, row.id], true);
      count(counters, batch, row, 1);
    },
    remove(batch, row) {
      rows.remove(batch, [row.id]);
      blobs.remove(batch, [row.sha256, row.id]);
      for (const key of placesOf(row)) index.remove(batch, key);
      if (row.expires_at !== undefined) ends.remove(batch, [row.expires_at, row.id]);
      if (row.thread_id !== undefined) ofThreads.remove(batch, [row.scope, row.thread_id, row.id]);
      count(counters, batch, row, -1);
    },
    list({ lists, purpose, after, ascending, limit }) {
      const names = typeof lists === 'string' ? [lists] : lists;
      const ranges = names.map(
        (list): Range => ({
          prefix: listOf(list, purpose),
          ...(after && { after: [after.created_at, after.id] }),
        }),
      );
      const read = (range: Range) =>
        Array.from(index.entries({ ...range, reverse: !ascending, limit }), ({ key, value }) => ({
          key: key.slice(range.prefix.length),
          value,
        }));
      const found: FileRow[] = [];
      for (const { value } of merge(ranges, read, !ascending)) {
        if (found.length >= limit) break;
        found.push(listed(value));
      }
      return found;
    },
    ownedBy: (scope, limit) => Array.from(index.values({ prefix: listOf(scope, undefined), limit }), listed),
    ofThread: (scope, thread_id) =>
      isId(thread_id)
        ? Array.from(ofThreads.keys({ prefix: [scope, thread_id] }), ([, , id]) => listed(String(id)))
        : [],
    expiredBefore: (ms, max) =>
      Array.from(ends.keys({ prefix: [], to: [ms], limit: max }), (key) => listed(String(key[1]))),
    hasBlob: (sha256) => blobs.firstKey({ prefix: [sha256] }) !== undefined,
    bytesIn: (scope) => counters.get([BYTES, scope]),
    totals: () => ({ files: counters.get([FILES]), bytes: counters.get([BYTES]) }),
    linkKey,
  };
};

const count = (counters: Counters, batch: Batch, { scope, bytes }: FileRow, sign: 1 | -1): void => {
  counters.add(batch, [BYTES, baseOf(scope)], sign * bytes);
  counters.add(batch, [BYTES], sign * bytes);
  counters.add(batch, [FILES], sign);
};

/** Names of counters; no scope begins like them. */
const BYTES = '~file_bytes';
const FILES = '~files';

const listOf = (list: string, purpose: FilePurpose | undefined): Key =>
  purpose === undefined ? [list, 'all'] : [list, 'for', purpose];

/** A file of a thread is in no list. */
const placesOf = ({ id, scope, purpose, created_at, thread_id }: FileRow): Key[] =>
  thread_id === undefined
    ? listsWith(scope, false).flatMap((list) => [
        [...listOf(list, undefined), created_at, id],
        [...listOf(list, purpose), created_at, id],
      ])
    : [];

const KEY = ['file_link_key'];

/** Returns the secret of the folder for links, which is generated with the folder. Called inside a transaction. */
export const takeLinkKey = (meta: Rows): Buffer => {
  const stored = meta.get(KEY);
  if (typeof stored === 'string') return Buffer.from(stored, 'hex');
  const key = randomBytes(32);
  meta.putSync(KEY, key.toString('hex'));
  return key;
};
