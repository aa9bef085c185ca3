import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveTo } from './postgres.ts';
import { serverUser } from './programs.ts';

/** A file system of 32 MiB in memory, whose folder belongs to the user of the database server. */
export type SmallDisk = {
  folder: string;
  /** Leaves no page free. */
  fill(): void;
  free(): void;
};

const DISK_BYTES = 32 * 2 ** 20;
/** Sizes of chunks that fill the disk to its last page. */
const CHUNKS = [2 ** 20, 2 ** 16, 2 ** 12];

const mount = (folder: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder]).status === 0;

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'troupe-disk-'));

const remove = (folder: string): void => {
  spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true });
};

const canMount = (): boolean => {
  const folder = newFolder();
  const isMounted = mount(folder);
  remove(folder);
  return isMounted;
};

/** The reason to skip a test that needs one, for the option `skip`. */
export const NO_SMALL_DISK = canMount() ? false : 'needs root, to mount a file system';

/** The part of a test that a disk needs. */
type Scope = { teardown(end: () => void): void };

export const mountSmallDisk = (t: Scope): SmallDisk => {
  const folder = newFolder();
  t.teardown(() => remove(folder));
  mount(folder);
  giveTo(serverUser(), folder);
  const ballast = join(folder, 'ballast');
  return {
    folder,
    fill() {
      for (const bytes of CHUNKS) {
        try {
          for (;;) appendFileSync(ballast, Buffer.alloc(bytes));
        } catch {
          // No chunk of this size fits.
        }
      }
    },
    free: () => rmSync(ballast),
  };
};
