import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import concurrently from 'concurrently';

/**
 * Runs all scripts `check:*`, as many at a time as there are cores. Each is its command, without an npm around it, which
 * takes as long to start as the shortest check.
 */

// A checker keeps nearly all that it makes: to look for garbage takes a third of its time. Past the limit it does.
const GO = { GOGC: 'off', GOMEMLIMIT: '3GiB' };

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const commands = Object.entries(scripts)
  .filter(([name]) => name.startsWith('check:'))
  .map(([name, command]) => ({ name: name.replace('check:', ''), command, env: GO }));

const { result } = concurrently(commands, { group: true, maxProcesses: availableParallelism() });
result.catch(() => {
  process.exitCode = 1;
});
