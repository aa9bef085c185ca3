import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './alive.ts';

/** The purpose of a temporary folder, which is part of its name. */
export type ScratchPurpose = 'copy' | 'check' | 'doctor' | 'eval' | 'test';

export type ScratchFolder = {
  readonly dir: string;
  /** Removes the folder with its contents. */
  remove(): Promise<void>;
};

/**
 * Creates a folder under the temporary one of the system, which only this user can read.
 *
 * Guarantees: folders of processes that were killed are removed first, so that a process that is killed again and again
 * leaves one. Those of another host, which may share the file system, and of processes that run are kept.
 *
 * @example
 * ```ts
 * const { dir, remove } = await createScratchFolder('check');
 * ```
 */
export const createScratchFolder = async (purpose: ScratchPurpose): Promise<ScratchFolder> => {
  await removeAbandoned();
  const dir = await mkdtemp(join(tmpdir(), `troupe-${purpose}-${HOST}-${process.pid}-`));
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
};

const HOST = hostname().replaceAll(/[^\w.]/g, '_');
const NAME = /^troupe-[a-z]+-([\w.]+)-(\d+)-\w{6}$/;

const removeAbandoned = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    const [, host, pid] = NAME.exec(name) ?? [];
    if (host !== HOST || isAlive(Number(pid))) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(ofAnotherUser);
  }
};

/** A folder that this user may not remove is that of another user. */
const ofAnotherUser = (): void => {};
