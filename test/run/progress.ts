import { readdirSync, readFileSync } from 'node:fs';

/**
 * Detects tests that wait for an event that never occurs. A time limit would also stop tests of a busy machine, so a
 * test stalls only if it reports nothing while neither its process nor the programs started by it use the CPU.
 */

/** A test that reports nothing for this long has to use the CPU, or to wait for it. */
const STALL_MS = 60_000;

/** Idle services and timers use less CPU time within `STALL_MS`, and executing tests more. */
const IDLE_CPU_MS = 1500;

/** On an overloaded machine, a process that computes is mostly waiting for the CPU, and an idle one is not. */
const IDLE_DELAY_MS = 12_000;

const SAMPLES = 12;

type Process = { pid: number; parent: number; ticks: number };

/** @returns the fields of Linux proc(5), or undefined for a process that has just ended */
const processOf = (pid: number): Process | undefined => {
  try {
    // The second field is a name in parentheses, which may contain spaces.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    // User and system time, of the process itself and of its ended children.
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + each, 0);
    return { pid, parent: fields[1] ?? 0, ticks };
  } catch {
    return undefined;
  }
};

/** The time that a process has been ready and waiting for the CPU; 0 where the system does not report it. */
const delayMsOf = (pid: number): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
};

type Use = {
  /** CPU time of this process and its descendants; except on Linux, of this process only. */
  cpuMs: number;
  /** Sum of the delays of these processes. */
  delayMs: number;
};

const useOfTree = (): Use => {
  if (process.platform !== 'linux') return { cpuMs: process.cpuUsage().user / 1000, delayMs: 0 };
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (processOf(+name) ?? []) : []));
  const tree = new Set([process.pid]);
  // A child may have a lower number than its parent.
  for (let size = 0; size < tree.size; ) {
    size = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  const use = { cpuMs: 0, delayMs: 0 };
  for (const { pid, ticks } of all) {
    if (!tree.has(pid)) continue;
    use.cpuMs += ticks * 10;
    use.delayMs += delayMsOf(pid);
  }
  return use;
};

/** @param part of `STALL_MS` that has passed */
const isIdle = (before: Use, now: Use, part: number): boolean =>
  // The use of a child that ended without being awaited is subtracted.
  Math.abs(now.cpuMs - before.cpuMs) <= IDLE_CPU_MS * part &&
  Math.abs(now.delayMs - before.delayMs) <= IDLE_DELAY_MS * part;

/**
 * @param reported grows with each result
 * @param onStall called once; the watch ends with it
 * @returns a function that ends the watch
 */
export const watchProgress = (
  reported: () => number,
  onStall: () => void,
  stallMs = STALL_MS,
): (() => void) => {
  const samples: (Use & { reported: number })[] = [];
  const timer = setInterval(() => {
    const now = { reported: reported(), ...useOfTree() };
    samples.push(now);
    if (samples.length <= SAMPLES) return;
    const before = samples.shift() ?? now;
    if (now.reported > before.reported || !isIdle(before, now, stallMs / STALL_MS)) return;
    clearInterval(timer);
    onStall();
  }, stallMs / SAMPLES);
  timer.unref();
  return () => clearInterval(timer);
};
