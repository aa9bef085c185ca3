import { runFile } from './file.ts';
import { bundleOf } from './places.ts';
import { residueSince, stateOfProcess } from './residue.ts';

/**
 * Runs the test files that its arguments name, one after the other and tells the process that started
 * it of each that ended: whatever a file does to this process, its name is known.
 */

/** What a group says after each file. `residue`: what the file left changed in the process, in words. */
export interface Said {
  type: 'ended';
  file: string;
  cpuMs: number;
  residue: string[];
}

/** For tests that set none of their own. */
const TEST_MS = 600_000;

for (const file of process.argv.slice(2)) {
  const before = stateOfProcess();
  const cpu = process.cpuUsage();
  await runFile(file, TEST_MS, () => import(bundleOf(file)));
  const { user, system } = process.cpuUsage(cpu);
  const said: Said = {
    type: 'ended',
    file,
    cpuMs: (user + system) / 1000,
    residue: await residueSince(before),
  };
  process.send?.(said);
}
process.disconnect?.();
// Whether something still runs was asked after each file.
process.exit();
