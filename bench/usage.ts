import { existsSync, readFileSync } from 'node:fs';

/** What a process uses, as Linux tells it; undefined elsewhere. */

const read = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, 'utf8') : undefined;

const TICKS_PER_SECOND = 100;

/** Seconds of processor time since it began, all threads. */
export const processorSeconds = (pid: number): number | undefined => {
  // The name of the program stands in parentheses and may hold anything; numbers follow.
  const fields = read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ');
  return fields && (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
};

export const residentKiB = (pid: number): number | undefined => {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? '');
  return found ? Number(found[1]) : undefined;
};

/** How many files a node process may open: it asks for as many as the system allows when it starts. */
export const fileLimit = (): number | undefined => {
  const found = /^Max open files\s+\S+\s+(\d+)/m.exec(read('/proc/self/limits') ?? '');
  return found ? Number(found[1]) : undefined;
};
