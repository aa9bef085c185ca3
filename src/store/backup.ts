import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { Unavailable } from '../schema/outcome.ts';
import { checkDataFile } from './data-file.ts';
import { closePrivate, openPrivate } from './environment.ts';
import { prepareFolder, reasonOf } from './folder.ts';
import { PRIVATE } from './private-files.ts';

/**
 * Copies of a store that is in use. The copy is one snapshot: everything committed when it began, nothing later,
 * without the free pages. Writers go on meanwhile. A copy is opened like any store. It is written in a folder of its
 * own inside the target and moved when it is whole: until then LMDB alone would decide who may read it.
 */

const DATA = 'data.mdb';

/** Bytes that were written so far, of so many at most: pages that are free are not copied. */
export type TellCopy = (written: number, most: number) => void;

export type CopyOptions = { follow?: (file: string) => () => void; signal?: AbortSignal };

/**
 * @throws Unavailable when the target is not empty, or cannot be written; what the signal is aborted with. LMDB reads
 * and writes on after an abort, so the process has to end then.
 */
export const copyTo = async (
  root: RootDatabase,
  target: string,
  { follow, signal }: CopyOptions = {},
): Promise<void> => {
  const dir = prepareFolder(target);
  removeUnfinished(dir);
  const found = readdirSync(dir).length;
  if (found > 0) {
    throw new Unavailable(
      `backup folder '${dir}' is not empty (${found} entries): name a new or an empty one`,
    );
  }
  try {
    const making = mkdtempSync(join(dir, `making-${process.pid}-`));
    try {
      const copied = root.backup(making, true).finally(follow?.(join(making, DATA)));
      await (signal ? Promise.race([copied, aborted(signal)]) : copied);
      chmodSync(join(making, DATA), PRIVATE);
      renameSync(join(making, DATA), join(dir, DATA));
    } finally {
      rmSync(making, { recursive: true });
    }
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw new Unavailable(`backup folder '${dir}' cannot be written (${reasonOf(cause)})`, { cause });
  }
};

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const leave = (): void => reject(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });

const UNFINISHED = /^making-(\d+)-/;

/** Removes what a backup left whose process was killed. */
const removeUnfinished = (dir: string): void => {
  for (const name of readdirSync(dir)) {
    const [, pid] = UNFINISHED.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(dir, name), { recursive: true });
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user exists, and may not be signalled.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

const LOOK_MS = 100;

/** LMDB does not tell how far it is; the file does. */
const followCopy = (dir: string, tell: TellCopy) => (file: string) => {
  const most = sizeOf(join(dir, DATA));
  const timer = setInterval(() => tell(sizeOf(file), most), LOOK_MS);
  return () => clearInterval(timer);
};

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Copies the store of a folder that another process may have open.
 * @throws Unavailable when there is no store, or the target is not empty or cannot be written; what the signal is
 * aborted with: the store stays open until the process ends
 */
export const backupFolder = async (
  dir: string,
  target: string,
  { tell, signal }: { tell?: TellCopy; signal?: AbortSignal } = {},
): Promise<void> => {
  if (!existsSync(join(dir, DATA))) {
    throw new Unavailable(`there is no store in '${dir}': name the data folder of the service`);
  }
  checkDataFile(dir);
  const root = openPrivate({ path: dir, noSubdir: false, readOnly: true });
  try {
    await copyTo(root, target, { ...(tell && { follow: followCopy(dir, tell) }), ...(signal && { signal }) });
  } finally {
    if (!signal?.aborted) await closePrivate(root);
  }
};
