import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { isAlive } from '../../processes/alive.ts';
import { Invalid, Unavailable } from '../../schema/outcome.ts';
import { BLOBS, blobsIn, copyBlobs, holdBlobs } from './blob-folder.ts';
import { checkDataFile } from './data-file.ts';
import { closePrivate, openPrivate } from './environment.ts';
import { prepareFolder, reasonOf } from './folder.ts';
import { PRIVATE } from './private-files.ts';

/**
 * Copies a store that is in use. The copy is one snapshot: everything committed before its start, nothing later,
 * without the free pages. Writers continue in parallel. The blobs that it names are linked into the copy. A copy is
 * opened like any store. It is written to a separate folder inside the target and moved when it is complete: until then
 * only LMDB determines its file permissions.
 */

const DATA = 'data.mdb';

/** Receives the number of bytes written so far, and the maximum: free pages are not copied. */
export type CopyProgress = (written: number, most: number) => void;

export type CopyOptions = { follow?: (file: string) => () => void; signal?: AbortSignal };

/**
 * @throws Unavailable when the target is not empty, or cannot be written; the abort reason of the signal. LMDB
 * continues to read and write after an abort, so the process has to end then.
 */
export const copyTo = async (
  { root, dir: source }: { root: RootDatabase; dir: string },
  target: string,
  { follow, signal }: CopyOptions = {},
): Promise<void> => {
  const dir = prepareFolder(target);
  const blobs = blobsIn(source);
  removeUnfinished(dir);
  const found = readdirSync(dir).length;
  if (found > 0) {
    throw new Unavailable(
      `backup folder '${dir}' is not empty (${found} entries): name a new or an empty one`,
    );
  }
  try {
    const making = mkdtempSync(join(dir, `making-${process.pid}-`));
    // Every blob that the copy names exists until it is linked.
    const release = holdBlobs(blobs);
    try {
      const copied = root.backup(making, true).finally(follow?.(join(making, DATA)));
      await (signal ? Promise.race([copied, aborted(signal)]) : copied);
      chmodSync(join(making, DATA), PRIVATE);
      const linking = copyBlobs(blobs, blobsIn(dir), await namedBlobs(making));
      await (signal ? Promise.race([linking, aborted(signal)]) : linking);
      renameSync(join(making, DATA), join(dir, DATA));
    } finally {
      release();
      rmSync(making, { recursive: true });
    }
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw new Unavailable(`backup folder '${dir}' cannot be written (${reasonOf(cause)})`, { cause });
  }
};

/** Returns the names of the blobs that a copy refers to. */
const namedBlobs = async (dir: string): Promise<Set<string>> => {
  const root = openPrivate({ path: dir, noSubdir: false, maxDbs: 128 });
  try {
    const names = new Set<string>();
    if (!Array.from(root.getKeys(), String).includes(BLOBS)) return names;
    const rows = root.openDB<unknown, [string, string]>(BLOBS, { encoding: 'binary' });
    for (const [sha256] of rows.getKeys()) names.add(sha256);
    return names;
  } finally {
    await closePrivate(root);
  }
};

/** @throws Invalid: the folder of a member has a part of the data, and is never opened again */
export const refuseBackup = (): never => {
  throw new Invalid(
    'the data are in the database, so back up the database: with pg_dump of its schema, or with base backups and its write-ahead log; members may continue to run',
  );
};

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });

const UNFINISHED = /^making-(\d+)-/;

/** Removes the leftovers of a backup whose process was killed. */
const removeUnfinished = (dir: string): void => {
  for (const name of readdirSync(dir)) {
    const [, pid] = UNFINISHED.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(dir, name), { recursive: true });
  }
};

const POLL_INTERVAL_MS = 100;

/** LMDB does not report its progress; the size of the file shows it. */
const followCopy = (dir: string, onProgress: CopyProgress) => (file: string) => {
  const most = sizeOf(join(dir, DATA));
  const timer = setInterval(() => onProgress(sizeOf(file), most), POLL_INTERVAL_MS);
  return () => clearInterval(timer);
};

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Copies the store of a folder that another process may have open.
 *
 * @throws Unavailable when there is no store, or the target is not empty or cannot be written; the abort reason of the
 * signal: the store stays open until the process ends
 */
export const backupFolder = async (
  dir: string,
  target: string,
  { onProgress, signal }: { onProgress?: CopyProgress; signal?: AbortSignal } = {},
): Promise<void> => {
  if (!existsSync(join(dir, DATA))) {
    throw new Unavailable(`'${dir}' contains no store: name the data directory of the service`);
  }
  checkDataFile(dir);
  const root = openPrivate({ path: dir, noSubdir: false, readOnly: true });
  try {
    await copyTo({ root, dir }, target, {
      ...(onProgress && { follow: followCopy(dir, onProgress) }),
      ...(signal && { signal }),
    });
  } finally {
    if (!signal?.aborted) await closePrivate(root);
  }
};
