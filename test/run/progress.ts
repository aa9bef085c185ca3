import { readdirSync, readFileSync } from 'node:fs';

/**
 * Detects tests that wait for an event that never occurs. A time limit would also stop tests of a busy machine, so a
 * test stalls only if it reports nothing while neither its process nor the programs started by it use the CPU.
 */

/** A test that reports nothing for this long has to use the CPU. */
const STALL_MS = 60_000;

/** Idle services and timers use less CPU time within `STALL_MS`, and the slowest executing test more. */
const IDLE_CPU_MS = 1500;

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

/** CPU time of this process and its descendants in milliseconds; of this process only, except on Linux. */
export const cpuMsOfTree = (): number => {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1000;
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (processOf(+name) ?? []) : []));
  const tree = new Set([process.pid]);
  // A child may have a lower number than its parent.
  for (let size = 0; size < tree.size; ) {
    size = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  return all.reduce((sum, { pid, ticks }) => (tree.has(pid) ? sum + ticks * 10 : sum), 0);
};

type Sample = { reported: number; cpuMs: number };

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
  const samples: Sample[] = [];
  const timer = setInterval(() => {
    const now = { reported: reported(), cpuMs: cpuMsOfTree() };
    samples.push(now);
    if (samples.length <= SAMPLES) return;
    const before = samples.shift() ?? now;
    const idleMs = (IDLE_CPU_MS * stallMs) / STALL_MS;
    // The time of a child that has ended without being awaited is subtracted.
    if (now.reported > before.reported || Math.abs(now.cpuMs - before.cpuMs) > idleMs) return;
    clearInterval(timer);
    onStall();
  }, stallMs / SAMPLES);
  timer.unref();
  return () => clearInterval(timer);
};
