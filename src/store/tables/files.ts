import { createHash, randomBytes } from 'node:crypto';
import type { FilePurpose } from '../../schema/file.ts';
import { Integrity } from '../../schema/outcome.ts';
import { baseOf, listsWith } from '../../schema/partition.ts';
import type { Lists } from '../../schema/place.ts';
import { type Batch, createNoteBoard, type Rows } from '../engine/batch.ts';
import { BLOBS } from '../engine/blob-folder.ts';
import type { Counters } from '../engine/counters.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, checkPartition, isId, type Key } from '../engine/keys.ts';
import { merge, type Range } from '../engine/merge.ts';
import type { PendingBlobs } from '../engine/pending-blobs.ts';
import type { Columns } from '../engine/sink.ts';
import type { Table } from '../engine/table.ts';

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

export type ThreadFile = Pick<
  FileRow,
  'scope' | 'sha256' | 'bytes' | 'filename' | 'media_type' | 'created_at'
> & { thread_id: string };

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
  /** Puts the file of a thread with this content, unless the thread has it already. */
  keepInThread(batch: Batch, file: ThreadFile): void;
  /** Removes the files of a thread. */
  removeThread(batch: Batch, scope: string, thread_id: string): void;
  /** Calls the listener with the content of each removed file, once the removal is visible. */
  onRemoved(listener: (sha256: string) => void): void;
  remove(batch: Batch, row: FileRow): void;
  list(query: FileQuery): FileRow[];
  ofThread(scope: string, thread_id: string): FileRow[];
  /** Returns files that expire before this time, earliest first, at most `max`. */
  expiredBefore(ms: number, max: number): FileRow[];
  /** Whether a file, or a row of a commit in progress, has this content. */
  hasBlob(sha256: string): boolean;
  /** The sum of the bytes of all files of a scope. */
  bytesIn(scope: string): number;
  /** The numbers of all scopes. */
  totals(): { files: number; bytes: number };
  /** The secret that links are signed with. */
  readonly linkKey: Buffer;
};

export const createFileTable = (
  env: Environment,
  counters: Counters,
  { linkKey, pendingBlobs }: { linkKey: Buffer; pendingBlobs: Pick<PendingBlobs, 'has'> },
): FileTable => {
  const tables = openTables(env);
  const { rows, index, ends, ofThreads, blobs } = tables;
  let notify: ((sha256: string) => void) | undefined;
  const { put, remove } = createWrites(tables, counters, (sha256) => notify?.(sha256));

  const get = (id: string): FileRow | undefined => (isId(id) ? rows.get([id]) : undefined);

  const listed = (id: string): FileRow => {
    const row = get(id);
    if (!row) throw new Integrity(`file '${id}' is listed and has no record`);
    return row;
  };

  const ofThread = (scope: string, thread_id: string): FileRow[] =>
    isId(thread_id)
      ? Array.from(ofThreads.keys({ prefix: [scope, thread_id] }), ([, , id]) => listed(String(id)))
      : [];

  const known = createNoteBoard<true>();

  return {
    get,
    put,
    remove,
    keepInThread(batch, file) {
      const id = threadFileId(file);
      if (known.newest(batch, id) || get(id)) return;
      known.note(batch, id, true);
      put(batch, { ...file, id, purpose: 'user_data' });
    },
    removeThread(batch, scope, thread_id) {
      for (const row of ofThread(scope, thread_id)) remove(batch, row);
    },
    onRemoved(listener) {
      notify = listener;
    },
    list: (query) => Array.from(listedIn(index, query), listed),
    ofThread,
    expiredBefore: (ms, max) =>
      Array.from(ends.keys({ prefix: [], to: [ms], limit: max }), (key) => listed(String(key[1]))),
    hasBlob: (sha256) => pendingBlobs.has(sha256) || blobs.firstKey({ prefix: [sha256] }) !== undefined,
    bytesIn: (scope) => counters.get([BYTES, scope]),
    totals: () => ({ files: counters.get([FILES]), bytes: counters.get([BYTES]) }),
    linkKey,
  };
};

/** The columns of a shipped row. */
export const fileColumns = ({
  scope,
  sha256,
  thread_id,
  purpose,
  created_at,
  expires_at,
}: FileRow): Columns => ({
  scope,
  a: sha256,
  b: thread_id ?? null,
  c: purpose,
  at: created_at,
  at2: expires_at ?? null,
});

const openTables = (env: Environment) => ({
  rows: env.table<FileRow>('files'),
  index: env.table<string>('file_index'),
  ends: env.table<true>('file_ends'),
  ofThreads: env.table<true>('thread_files'),
  blobs: env.table<true>(BLOBS),
});

/** A row, its lists and its counters change together. */
const createWrites = (
  { rows, index, ends, ofThreads, blobs }: ReturnType<typeof openTables>,
  counters: Counters,
  removed: (sha256: string) => void,
): Pick<FileTable, 'put' | 'remove'> => {
  /** Files whose removal is in progress: a second one must not change the counters again. */
  const removing = createNoteBoard<true>();
  return {
    put(batch, row) {
      const { id, scope, thread_id, expires_at } = row;
      checkPartition(scope);
      checkId('file id', id);
      rows.put(batch, [id], row);
      blobs.put(batch, [row.sha256, id], true);
      for (const key of placesOf(row)) index.put(batch, key, id);
      if (expires_at !== undefined) ends.put(batch, [expires_at, id], true);
      if (thread_id !== undefined) ofThreads.put(batch, [scope, thread_id, id], true);
      count(counters, batch, row, 1);
    },
    remove(batch, row) {
      const { id, scope, thread_id, expires_at } = row;
      if (removing.newest(batch, id) || !rows.has([id])) return;
      removing.note(batch, id, true);
      rows.remove(batch, [id]);
      blobs.remove(batch, [row.sha256, id]);
      for (const key of placesOf(row)) index.remove(batch, key);
      if (expires_at !== undefined) ends.remove(batch, [expires_at, id]);
      if (thread_id !== undefined) ofThreads.remove(batch, [scope, thread_id, id]);
      count(counters, batch, row, -1);
      batch.afterwards.push(() => removed(row.sha256));
    },
  };
};

/** Returns the ids of the files of a page. */
const listedIn = (index: Table<string>, { lists, purpose, after, ascending, limit }: FileQuery): string[] => {
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
  const ids: string[] = [];
  for (const { value } of merge(ranges, read, !ascending)) {
    if (ids.length >= limit) break;
    ids.push(value);
  }
  return ids;
};

const count = (counters: Counters, batch: Batch, { scope, bytes }: FileRow, sign: 1 | -1): void => {
  counters.add(batch, [BYTES, baseOf(scope)], sign * bytes);
  counters.add(batch, [BYTES], sign * bytes);
  counters.add(batch, [FILES], sign);
};

/** Derived from its content, so that a thread has one file of it. */
export const threadFileId = ({
  scope,
  thread_id,
  sha256,
}: Pick<ThreadFile, 'scope' | 'thread_id' | 'sha256'>): string =>
  `file-${createHash('sha256').update(`${scope}\0${thread_id}\0${sha256}`).digest('hex').slice(0, 32)}`;

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

/** Returns the secret in hexadecimal digits; undefined in a folder that no store was opened in. */
export const linkKeyIn = (meta: Rows): string | undefined => {
  const stored = meta.get(KEY);
  return typeof stored === 'string' ? stored : undefined;
};

export const putLinkKey = (meta: Rows, key: string): void => meta.putSync(KEY, key);

/** Returns the secret of the folder for links, which is generated with the folder. Called inside a transaction. */
export const takeLinkKey = (meta: Rows): Buffer => {
  const stored = linkKeyIn(meta);
  if (stored !== undefined) return Buffer.from(stored, 'hex');
  const key = randomBytes(32);
  putLinkKey(meta, key.toString('hex'));
  return key;
};
