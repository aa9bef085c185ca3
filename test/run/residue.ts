import { setTimeout as pause } from 'node:timers/promises';

/**
 * What a test file may not leave to the next one of its process: changed variables of the environment, another
 * working folder, a clock that is not the machine's, listeners, and what keeps a process alive.
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

/** How long what was just closed may take to be gone. */
const CLOSING_MS = 3000;

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

/** @returns what is not as it was, in words; empty as soon as all is */
export const residueSince = async (before: StateOfProcess): Promise<string[]> => {
  const until = performance.now() + CLOSING_MS;
  let left = differences(before);
  while (left.length > 0 && performance.now() < until) {
    await pause(20);
    left = differences(before);
  }
  return left;
};
