import { on } from 'node:events';
import { readFileSync } from 'node:fs';
import { runFile } from './file.ts';
import { placesOfWorker } from './places.ts';
import { recordAnswers } from './recorded.ts';
import { residueSince, stateOfProcess } from './residue.ts';

/**
 * Runs one test file after the other: it asks the process that started it for each, and tells of each that ended.
 * Whatever a file does to this process, its name is known.
 */

/**
 * What a worker says. `cpuMs`: with that of the programs that it started and that ended meanwhile, where
 * the system tells. `residue`: what the file left changed in the process, in words.
 */
export type Said = { type: 'ready' } | EndOfFile;

/** What a worker is told when it is ready for a file; `null`: there is none left. */
export interface Told {
  type: 'file';
  file: string | null;
}

interface EndOfFile {
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

const places = placesOfWorker(process.argv[1] ?? '');

const say = (said: Said): boolean | undefined => process.send?.(said);

/** tap speaks over the same channel. */
const isTold = (message: unknown): message is Told =>
  typeof message === 'object' && message !== null && 'type' in message && message.type === 'file';

const nextFile = async (): Promise<string | null> => {
  say({ type: 'ready' });
  for await (const [message] of on(process, 'message')) if (isTold(message)) return message.file;
  return null;
};

// Nobody is left who would read the results.
process.once('disconnect', () => process.exit(1));

const recorder = recordAnswers(places.answers);
for (let file = await nextFile(); file !== null; file = await nextFile()) {
  recorder.begin(file);
  const before = stateOfProcess();
  const cpu = process.cpuUsage();
  const children = childrenMs();
  const ok = await runFile(file, places, TEST_MS);
  const { user, system } = process.cpuUsage(cpu);
  say({
    type: 'ended',
    file,
    ok,
    cpuMs: (user + system) / 1000 + childrenMs() - children,
    residue: await residueSince(before),
  });
}
await recorder.end();
process.disconnect?.();
// Whether something still runs was asked after each file.
process.exit();
