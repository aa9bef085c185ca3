import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import concurrently from 'concurrently';

/**
 * Runs all `check:*` scripts, up to one per core at a time. Commands run without npm, which takes as long to start as
 * the shortest check.
 */

// Type checkers retain nearly everything that they allocate, so garbage collection takes a third of their time. It
// starts only at the memory limit.
const GO = { GOGC: 'off', GOMEMLIMIT: '3GiB' };

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const commands = Object.entries(scripts)
  .filter(([name]) => name.startsWith('check:'))
  .map(([name, command]) => ({ name: name.replace('check:', ''), command, env: GO }));

const { result } = concurrently(commands, { group: true, maxProcesses: availableParallelism() });
result.catch(() => {
  process.exitCode = 1;
});
