import { setTimeout as pause } from 'node:timers/promises';

/**
 * State of the process that a test file must restore before the next one: environment variables, the working folder,
 * the system clock, listeners, and resources that keep a process alive.
 */

const NOW = Date.now;

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const;

const ALIVE = [
  'TCPServerWrap',
  'TCPSocketWrap',
  'PipeWrap',
  'ProcessWrap',
  'MessagePort',
  'FSEventWrap',
  'Timeout',
];

/** Time for resources to close. */
const CLOSING_MS = 10_000;

export interface StateOfProcess {
  env: Record<string, string | undefined>;
  folder: string;
  listeners: Record<string, number>;
  alive: Record<string, number>;
}

const count = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

export const stateOfProcess = (): StateOfProcess => ({
  env: { ...process.env },
  folder: process.cwd(),
  listeners: Object.fromEntries(EVENTS.map((name) => [name, process.listenerCount(name)])),
  alive: count(process.getActiveResourcesInfo().filter((name) => ALIVE.includes(name))),
});

const more = (what: string, before: Record<string, number>, now: Record<string, number>): string[] =>
  Object.entries(now)
    .filter(([name, n]) => n > (before[name] ?? 0))
    .map(([name, n]) => `${what} ${name}: ${n}, before ${before[name] ?? 0}`);

const differences = (before: StateOfProcess): string[] => {
  const now = stateOfProcess();
  const names = [...new Set([...Object.keys(before.env), ...Object.keys(now.env)])];
  return [
    ...names
      .filter((name) => before.env[name] !== now.env[name])
      .map(
        (name) =>
          `environment ${name}: ${now.env[name] ?? 'not set'}, before ${before.env[name] ?? 'not set'}`,
      ),
    ...(before.folder === now.folder ? [] : [`working folder: ${now.folder}`]),
    ...(Date.now === NOW ? [] : ['a clock that is not the machine’s']),
    ...more('listeners of', before.listeners, now.listeners),
    ...more('still there:', before.alive, now.alive),
  ];
};

/** @returns the changes as text; empty once everything is restored */
export const residueSince = async (before: StateOfProcess): Promise<string[]> => {
  const until = performance.now() + CLOSING_MS;
  let left = differences(before);
  while (left.length > 0 && performance.now() < until) {
    await pause(20);
    left = differences(before);
  }
  return left;
};
