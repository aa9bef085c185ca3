import { readFileSync } from 'node:fs';

/**
 * Checks whether the process may map this many more bytes. lmdb does not check the result of mmap when it opens or
 * extends its map, so under a limit of the address space (`ulimit -v`) the process ends with SIGSEGV and no message.
 */
export const addressSpaceProblem = (bytes: number): string | undefined => {
  const limit = limitBytes;
  if (limit === undefined) return undefined;
  const used = usedBytes();
  if (used + bytes <= limit) return undefined;
  return `the process may use ${gigabytes(limit)} of address space (ulimit -v) and has used ${gigabytes(used)}; the store has to map ${gigabytes(bytes)} more: raise the limit`;
};

export const isAddressSpaceLimited = (): boolean => limitBytes !== undefined;

const gigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Not Linux, or no /proc: the limit is unknown.
    return '';
  }
};

const numberIn = (text: string, pattern: RegExp): number | undefined => {
  const [, digits] = pattern.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
};

/** The soft limit at the start of the process; undefined without a limit. */
const limitBytes = numberIn(read('/proc/self/limits'), /^Max address space\s+(\d+)/m);

const usedBytes = (): number => (numberIn(read('/proc/self/status'), /^VmSize:\s+(\d+) kB/m) ?? 0) * 1024;
