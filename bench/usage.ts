import { existsSync, readFileSync } from 'node:fs';

/** What a process uses, as Linux tells it; NaN, or undefined, elsewhere. */

const read = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, 'utf8') : undefined;

const TICKS_PER_SECOND = 100;

/** Seconds of processor time since it began, all threads, its own and the kernel's for it. */
const processorSeconds = (pid: number): number => {
  // The name of the program stands in parentheses and may hold anything; numbers follow.
  const fields = read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ');
  return fields ? (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND : Number.NaN;
};

/** Milliseconds that the main thread ran, and those that it was ready to run and had to wait. */
const mainThread = (pid: number): { ran: number; waited: number } => {
  const [ran, waited] = read(`/proc/${pid}/schedstat`)?.split(' ') ?? [];
  return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 };
};

/** Since it was made. */
export type Usage = {
  /** Milliseconds of processor time. */
  processor: number;
  /** Milliseconds of the clock. */
  elapsed: number;
  /** Of a core; 1 means that nothing else held the process back, neither a slow load nor other processes. */
  share: number;
  /** Of the time of its core that it wanted; 1 means that no other process held it back. */
  granted: number;
};

/** @returns what the process has used since this call */
export const usageFrom = (pid: number): (() => Usage) => {
  const before = processorSeconds(pid);
  const main = mainThread(pid);
  const began = performance.now();
  return () => {
    const processor = (processorSeconds(pid) - before) * 1000;
    const elapsed = performance.now() - began;
    const { ran, waited } = mainThread(pid);
    // While its other threads have the core, the main thread waits as well, and nobody has taken anything.
    const others = Math.max(0, processor - (ran - main.ran));
    const taken = Math.max(0, waited - main.waited - others);
    return { processor, elapsed, share: processor / elapsed, granted: processor / (processor + taken) };
  };
};

const statusKiB = (pid: number, name: string): number => {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(read(`/proc/${pid}/status`) ?? '');
  return found ? Number(found[1]) : Number.NaN;
};

export const residentKiB = (pid: number): number => statusKiB(pid, 'VmRSS');

/** The most that it ever was. */
export const peakResidentKiB = (pid: number): number => statusKiB(pid, 'VmHWM');

/** What it has sent to the disk, or to the pages that the kernel keeps for that. */
export const writtenBytes = (pid: number): number => {
  const found = /^write_bytes: (\d+)/m.exec(read(`/proc/${pid}/io`) ?? '');
  return found ? Number(found[1]) : Number.NaN;
};

/** Without the pages of files, such as those of the store. */
export const anonymousKiB = (pid: number): number => statusKiB(pid, 'RssAnon');

/** How many files a node process may open: it asks for as many as the system allows when it starts. */
export const fileLimit = (): number | undefined => {
  const found = /^Max open files\s+\S+\s+(\d+)/m.exec(read('/proc/self/limits') ?? '');
  return found ? Number(found[1]) : undefined;
};
