import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Loaded into a server: measures the longest CPU time of its main thread in one event-loop tick, and the rise of its
 * memory. Both come from the kernel, so other load on the host does not affect them.
 */

/** Usage of the server since the start of the measurement. */
export type Turns = { longest_ms: number; total_ms: number; peak_kib: number };

const processorMs = (): number => {
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
};

const statusKib = (name: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);

let turn: NodeJS.Immediate | undefined;
let from = { processor: 0, resident: 0 };
let longest = 0;
let before = 0;

const watch = (): void => {
  const now = processorMs();
  longest = Math.max(longest, now - before);
  before = now;
  turn = setImmediate(watch);
};

const begin = (): void => {
  globalThis.gc?.();
  // Resets the peak resident size to the current one.
  writeFileSync('/proc/self/clear_refs', '5');
  from = { processor: processorMs(), resident: statusKib('VmRSS') };
  before = from.processor;
  longest = 0;
  turn = setImmediate(watch);
};

const end = (): Turns => {
  clearImmediate(turn);
  return {
    longest_ms: longest,
    total_ms: processorMs() - from.processor,
    peak_kib: statusKib('VmHWM') - from.resident,
  };
};

process.on('message', (wish) => {
  if (wish === 'begin') begin();
  process.send?.(wish === 'begin' ? {} : end());
});
process.channel?.unref();
