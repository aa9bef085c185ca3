import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { getSystemErrorMap } from 'node:util';

/**
 * Determines why a transaction could not be written. LMDB reports a short write as an I/O error, and short writes
 * happen on a disk or a quota without space. A test file next to the data distinguishes the two and names the limit.
 */
export const diskReason = (dir: string, cause: unknown): unknown => {
  if (!(cause instanceof Error) || cause.message !== IO_ERROR) return cause;
  const found = probe(dir);
  return found === undefined ? cause : new Error(found, { cause });
};

const [, IO_ERROR] = getSystemErrorMap().get(-5) ?? [];

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};

/** Larger than the free space of a file system that counts as full. */
const PROBE = Buffer.alloc(2 ** 20);

const probe = (dir: string): string | undefined => {
  const file = join(dir, `probe-${process.pid}`);
  try {
    const fd = openSync(file, 'w', 0o600);
    try {
      for (let written = 0; written < PROBE.length; ) written += writeSync(fd, PROBE, written);
    } finally {
      closeSync(fd);
    }
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? REASONS[String(error.code)] : undefined;
  } finally {
    rmSync(file, { force: true });
  }
};
