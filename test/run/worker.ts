import { on } from 'node:events';
import { readFileSync } from 'node:fs';
import { runFile } from './file.ts';
import { placesOfWorker } from './places.ts';
import { recordAnswers } from './recorded.ts';
import { residueSince, stateOfProcess } from './residue.ts';

/**
 * Runs test files one at a time: requests each from the process that started it, and reports each result. That process
 * therefore has the name of the current file even if the file ends this process.
 */

/**
 * Messages of a worker. `cpuMs` includes programs that the file started and that have ended, where the system reports
 * it. `residue`: changes that the file left in the process.
 */
export type Said = { type: 'ready' } | EndOfFile;

/** The response to a worker that is ready for a file; `null`: none is left. */
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

/** Tests of the runner have a shorter one. */
const STALL_MS = process.env.TROUPE_TEST_STALL_MS ? Number(process.env.TROUPE_TEST_STALL_MS) : undefined;

/** From Linux proc(5): user and system time of ended children, in hundredths of a second. */
const childrenMs = (): number => {
  if (process.platform !== 'linux') return 0;
  // The second field is a name in parentheses, which may contain spaces.
  const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const [user = 0, system = 0] = fields.split(' ').slice(13, 15).map(Number);
  return (user + system) * 10;
};

const places = placesOfWorker(process.argv[1] ?? '');

const say = (said: Said): boolean | undefined => process.send?.(said);

/** tap uses the same channel. */
const isTold = (message: unknown): message is Told =>
  typeof message === 'object' && message !== null && 'type' in message && message.type === 'file';

const nextFile = async (): Promise<string | null> => {
  say({ type: 'ready' });
  for await (const [message] of on(process, 'message')) if (isTold(message)) return message.file;
  return null;
};

// The process that would read the results has ended.
process.once('disconnect', () => process.exit(1));

const recorder = recordAnswers(places.answers);
for (let file = await nextFile(); file !== null; file = await nextFile()) {
  recorder.begin(file);
  const before = stateOfProcess();
  const cpu = process.cpuUsage();
  const children = childrenMs();
  const { ok, stalled } = await runFile(file, places, STALL_MS);
  const { user, system } = process.cpuUsage(cpu);
  say({
    type: 'ended',
    file,
    ok,
    cpuMs: (user + system) / 1000 + childrenMs() - children,
    // A stalled test does not close its resources.
    residue: stalled ? [] : await residueSince(before),
  });
  // The remaining files run in a new process.
  if (stalled) break;
}
await recorder.end();
process.disconnect?.();
// Remaining resources were already checked after each file.
process.exit();
