import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  createReadStream,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isAlive } from '../../processes/alive.ts';
import { PRIVATE } from './private-files.ts';

/**
 * The folder of the bytes of files: `blobs/<2 hexadecimal digits>/<sha256>` (openai.md 9.2).
 *
 * Guarantees: a blob is complete when it has its name. While a process that has called `holdBlobs` is alive, no blob is
 * removed: a copy of the store that was begun then finds everything that it names.
 */

/** The table whose keys begin with the names of blobs. */
export const BLOBS = 'blobs';

export const blobsIn = (dir: string): string => join(dir, 'blobs');

/** Files that are still being written; only the service that has the folder open writes here. */
export const incomingIn = (blobs: string): string => join(blobs, 'incoming');

export const isSha256 = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

export const blobPath = (blobs: string, sha256: string): string => join(blobs, sha256.slice(0, 2), sha256);

const PAIR = /^[0-9a-f]{2}$/;

/** Yields the names of the blobs, one subfolder at a time. */
export async function* blobNames(blobs: string): AsyncGenerator<string> {
  for (const pair of namesIn(blobs).filter((name) => PAIR.test(name))) {
    for (const name of namesIn(join(blobs, pair))) if (isSha256(name)) yield name;
    await setImmediate();
  }
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

const HOLD = /^hold-(\d+)$/;

/** Keeps every blob until the returned function is called or this process ends. */
export const holdBlobs = (blobs: string): (() => void) => {
  if (!existsSync(blobs)) return () => {};
  const mark = join(blobs, `hold-${process.pid}`);
  writeFileSync(mark, '', { mode: PRIVATE });
  return () => rmSync(mark, { force: true });
};

/** Whether a process keeps the blobs. Removes the marks of processes that were killed. */
export const areBlobsHeld = (blobs: string): boolean => {
  let isHeld = false;
  for (const name of namesIn(blobs)) {
    const pid = Number(HOLD.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid)) continue;
    if (isAlive(pid)) isHeld = true;
    else rmSync(join(blobs, name), { force: true });
  }
  return isHeld;
};

/** Blobs that are linked or copied between two ticks. */
const AT_ONCE = 100;

/** Copies blobs to another folder, as hard links where both folders are on one file system. Missing ones are left out. */
export const copyBlobs = async (from: string, to: string, names: Iterable<string>): Promise<void> => {
  let count = 0;
  for (const name of names) {
    const source = blobPath(from, name);
    if (!existsSync(source)) continue;
    mkdirSync(join(to, name.slice(0, 2)), { recursive: true, mode: 0o700 });
    linkOrCopy(source, blobPath(to, name));
    count += 1;
    if (count % AT_ONCE === 0) await setImmediate();
  }
};

const linkOrCopy = (source: string, target: string): void => {
  try {
    linkSync(source, target);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'EMLINK' && code !== 'ENOTSUP') throw error;
    copyFileSync(source, target, constants.COPYFILE_FICLONE);
  }
};

/** Makes new names in a folder survive a power loss. */
const flushFolder = (folder: string): void => {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

export type BlobState = 'complete' | 'missing' | 'wrong';

/** Reads a blob, and compares it with its name. */
export const examineBlob = async (blobs: string, sha256: string): Promise<BlobState> => {
  const path = blobPath(blobs, sha256);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return 'missing';
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex') === sha256 ? 'complete' : 'wrong';
};

/** Gives a complete file of the folder `incoming` the name of its content. */
export const nameBlob = async (blobs: string, path: string, sha256: string): Promise<void> => {
  const target = blobPath(blobs, sha256);
  const folder = dirname(target);
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(blobs, 0o700);
    flushFolder(blobs);
  }
  await rename(path, target);
  flushFolder(folder);
};

/** Resolves when the content is on the disk under its name. */
export const writeBlob = async (blobs: string, sha256: string, bytes: Uint8Array): Promise<void> => {
  const incoming = incomingIn(blobs);
  mkdirSync(incoming, { recursive: true, mode: 0o700 });
  const path = join(incoming, randomUUID());
  const file = await open(path, 'wx', PRIVATE);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await nameBlob(blobs, path, sha256);
};

/** Contents that are written at once. */
const WRITTEN_AT_ONCE = 4;

export const writeBlobs = async (
  blobs: string,
  contents: readonly (readonly [sha256: string, bytes: Uint8Array])[],
): Promise<void> => {
  for (let at = 0; at < contents.length; at += WRITTEN_AT_ONCE)
    await Promise.all(
      contents.slice(at, at + WRITTEN_AT_ONCE).map(([sha256, bytes]) => writeBlob(blobs, sha256, bytes)),
    );
};
