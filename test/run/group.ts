import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runFile } from './file.ts';
import { placesOfGroup } from './places.ts';
import { recordAnswers } from './recorded.ts';
import { residueSince, stateOfProcess } from './residue.ts';

/**
 * Runs the test files that its arguments name, one after the other, and tells the process that started it of each
 * that ended: whatever a file does to this process, its name is known. `--bail`: none after the first that fails.
 */

/**
 * What a group says after each file. `cpuMs`: with that of the programs that it started and that ended meanwhile, where
 * the system tells. `residue`: what the file left changed in the process, in words.
 */
export interface Said {
  type: 'ended';
  file: string;
  ok: boolean;
  cpuMs: number;
  residue: string[];
}

/** For tests that set none of their own. */
const TEST_MS = 600_000;

/** Of Linux' proc(5): user and system time of ended children, in hundredths of a second. */
const childrenMs = (): number => {
  if (process.platform !== 'linux') return 0;
  // The second field is a name in parentheses, which may have spaces.
  const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const [user = 0, system = 0] = fields.split(' ').slice(13, 15).map(Number);
  return (user + system) * 10;
};

const places = placesOfGroup(process.argv[1] ?? '');
const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { bail: { type: 'boolean', default: false } },
});

// Nobody is left who would read the results.
process.once('disconnect', () => process.exit(1));

const recorder = recordAnswers(places.answers);
for (const file of files) {
  recorder.begin(file);
  const before = stateOfProcess();
  const cpu = process.cpuUsage();
  const children = childrenMs();
  const ok = await runFile(file, places, TEST_MS);
  const { user, system } = process.cpuUsage(cpu);
  const said: Said = {
    type: 'ended',
    file,
    ok,
    cpuMs: (user + system) / 1000 + childrenMs() - children,
    residue: await residueSince(before),
  };
  process.send?.(said);
  if (!ok && values.bail) break;
}
await recorder.end();
process.disconnect?.();
// Whether something still runs was asked after each file.
process.exit();
