import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Resource usage of a process on Linux; NaN or undefined elsewhere. */

const read = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, 'utf8') : undefined;

const TICKS_PER_SECOND = 100;

/** Seconds of CPU time since the start of the process, all threads, user and system. */
const processorSeconds = (pid: number): number => {
  // The name of the program is in parentheses and may contain anything; numbers follow.
  const fields = read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ');
  return fields ? (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND : Number.NaN;
};

/** Milliseconds that the main thread ran, and that it was ready but had to wait. */
const mainThread = (pid: number): { ran: number; waited: number } => {
  const [ran, waited] = read(`/proc/${pid}/schedstat`)?.split(' ') ?? [];
  return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 };
};

/**
 * Milliseconds that the threads of a process have run, to the nanosecond. The time of threads that have ended is missing, so
 * this is for short intervals of processes that keep their threads.
 */
export const threadsRan = (pid: number): number => {
  const threads = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  const times = threads.map((id) => Number(read(`/proc/${pid}/task/${id}/schedstat`)?.split(' ')[0]));
  return times.length === 0 ? Number.NaN : times.reduce((sum, time) => sum + time, 0) / 1e6;
};

/** Usage since the creation of the reader. */
export type Usage = {
  /** Milliseconds of CPU time. */
  processor: number;
  /** Milliseconds of wall-clock time. */
  elapsed: number;
  /** Share of a core; 1 means that neither a slow load generator nor other processes limited the process. */
  share: number;
  /** Share of the requested CPU time that was received; 1 means that no other process limited it. */
  granted: number;
};

/** @returns a function that returns the usage since this call */
export const usageFrom = (pid: number): (() => Usage) => {
  const before = processorSeconds(pid);
  const main = mainThread(pid);
  const began = performance.now();
  return () => {
    const processor = (processorSeconds(pid) - before) * 1000;
    const elapsed = performance.now() - began;
    const { ran, waited } = mainThread(pid);
    // The main thread also waits while other threads of the process use the core, which does not count as taken.
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

/** Peak resident memory. */
export const peakResidentKiB = (pid: number): number => statusKiB(pid, 'VmHWM');

/** The peak is that from now on. */
export const resetPeak = (pid: number): void => {
  // 5 is the command for the peak (man proc_pid_clear_refs).
  if (existsSync(`/proc/${pid}/clear_refs`)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
};

/** Bytes written to the disk or to dirty pages of the kernel. */
export const writtenBytes = (pid: number): number => {
  const found = /^write_bytes: (\d+)/m.exec(read(`/proc/${pid}/io`) ?? '');
  return found ? Number(found[1]) : Number.NaN;
};

/** Excludes the pages of files, such as those of the store. */
export const anonymousKiB = (pid: number): number => statusKiB(pid, 'RssAnon');

/** The maximum number of open files of a node process, which raises its limit to the allowed maximum at startup. */
export const fileLimit = (): number | undefined => {
  const found = /^Max open files\s+\S+\s+(\d+)/m.exec(read('/proc/self/limits') ?? '');
  return found ? Number(found[1]) : undefined;
};
