import { Command } from 'commander';
import { createIds } from '../composition/ids.ts';
import { runNode } from '../processes/start.ts';
import type { Finding, Report, StoreOptions } from '../store/index.ts';
import { readEnvironment } from './environment.ts';
import { givenFlags, readSettings, withSettingFlags } from './setting-flags.ts';

/**
 * `troupe doctor`: checks a data directory that no service uses, and repairs derived data. Exits with 0 if there are no
 * (remaining) problems, 1 if the check failed, 2 if problems were found. The check runs in a separate process, so that
 * damage which crashes it becomes a finding.
 */
export const doctorCommand = withSettingFlags(new Command('doctor'), {
  keys: ['settings_file', 'storage_dir', 'secrets_key'],
})
  .description('check the data directory of a stopped service (exit 0: healthy, 1: check failed, 2: damaged)')
  .option(
    '--repair',
    'back up the directory, rebuild indexes, lists and counters, and end runs that are recorded as running without a dispatch',
  )
  .option(
    '--backup <folder>',
    'destination of the backup; default: next to the data directory, with a timestamp',
  )
  .option('--json', 'print one JSON object')
  .action(async (options: Record<string, unknown>) => {
    if (process.env[IN_CHILD] === undefined) {
      process.exitCode = inChild();
      return;
    }
    const { storage_dir: dir, secrets_key } = await readSettings(givenFlags(options), readEnvironment());
    const beside = `${dir}-before-repair-${new Date().toISOString().replaceAll(':', '')}`;
    const backup = typeof options.backup === 'string' ? options.backup : beside;
    const { examine } = await import('../store/index.ts');
    const secrets = secrets_key === undefined ? {} : { secretsKey: secrets_key };
    const isRepair = options.repair === true;
    const report = await examine({ dir, ...secrets, ...(isRepair && { repair: { backup } }) });
    if (isRepair) await repairRuns(report, { dir, ...secrets });
    process.stdout.write(options.json === true ? `${JSON.stringify(report)}\n` : renderReport(report));
    process.exitCode = report.findings.every(({ repaired }) => repaired) ? 0 : 2;
  });

/**
 * Ends runs that no process will end, with their events, as a start of the service does. Does nothing if damage
 * remains.
 */
const repairRuns = async ({ findings }: Report, folder: Pick<StoreOptions, 'dir' | 'secretsKey'>) => {
  const { openStore, STRAY_RUN } = await import('../store/index.ts');
  const strays = findings.find(({ problem }) => problem === STRAY_RUN);
  if (!strays || findings.some((finding) => finding !== strays && !finding.repaired)) return;
  const { endStrays } = await import('../runtime/maintenance/stray-runs.ts');
  const store = await openStore({ ...folder, durability: 'power' });
  try {
    await endStrays(store, { clock: Date, ids: createIds(), mode: 'compacted' });
    strays.repaired = true;
  } finally {
    await store.close();
  }
};

const IN_CHILD = 'TROUPE_DOCTOR_CHILD';

const inChild = (): number => {
  const args = [...process.execArgv, ...process.argv.slice(1)];
  const { status, signal, stderr } = runNode(args, { ...process.env, [IN_CHILD]: '1' });
  process.stderr.write(stderr);
  if (signal === null) return status ?? 1;
  const isDamage = DAMAGE.includes(signal) && !stderr.includes('heap out of memory');
  const consequence = isDamage
    ? 'so the file is damaged: restore a backup'
    : 'so the check is incomplete: run it again, with a larger heap if memory ran out (NODE_OPTIONS=--max-old-space-size=8192)';
  process.stderr.write(`troupe: reading ended with ${signal}, ${consequence}\n`);
  return isDamage ? 2 : 1;
};

/** Signals that end a process when LMDB reads a damaged file. */
const DAMAGE: readonly string[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT'];

const renderReport = ({ findings, rows, secrets, blobs, backup }: Report): string => {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const read = `${total} rows in ${Object.keys(rows).length} tables were read`;
  const copied = backup === undefined ? [] : [`the folder as it was is in ${backup}`];
  const what = findings.length === 0 ? ['no problems found'] : findings.map(renderFinding);
  const sealed = secrets === undefined ? [] : secretsLines(secrets);
  const contents = blobs === undefined || blobs.named + blobs.orphaned === 0 ? [] : [blobsLine(blobs)];
  return `${[...what, read, ...sealed, ...contents, ...copied].join('\n')}\n`;
};

const blobsLine = ({ named, orphaned }: NonNullable<Report['blobs']>): string =>
  `files: ${named} contents were read${orphaned === 0 ? '' : `; ${orphaned} that no file names are removed by the service`}`;

const KEYS = {
  setting: 'SERVICE_SECRETS_KEY',
  file: 'the generated key in secrets.key of the folder',
  none: 'no key yet',
};

const secretsLines = ({ key, sealed, older }: NonNullable<Report['secrets']>): string[] => [
  `secrets: ${sealed} rows are encrypted; the key is ${KEYS[key]}`,
  ...(older === 0
    ? []
    : [`secrets: ${older} rows are plain or encrypted in an earlier way; the next start encrypts them`]),
];

export const renderFinding = ({ problem, table, count, examples, repaired }: Finding): string =>
  `${repaired ? 'repaired' : 'found'}: ${table}: ${problem} (${count}): ${examples.join(' ')}`;
