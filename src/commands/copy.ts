import { Command } from 'commander';
import { createIds } from '../composition/ids.ts';
import { version } from '../composition/version.ts';
import type { CopyOptions, CopyProgress } from '../postgres/copy.ts';
import type { Digests } from '../postgres/digest.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { Settings } from '../settings/index.ts';
import type { ShippedRow } from '../store/engine/sink.ts';
import type { FolderExport, FolderOptions } from '../store/folder-export.ts';
import { createProgress } from '../terminal/progress.ts';
import { isDatabaseUrl, readDatabaseSettings } from './database-settings.ts';
import { guarded, Usage } from './usage.ts';

/**
 * `troupe copy`: all data of a data directory into a database, or of a database into a new data directory. Exits with 0
 * when the copy is complete, 1 when it is refused or fails, 2 for wrong arguments.
 */
export const copyCommand = new Command('copy')
  .description('copy all data from a data directory into a PostgreSQL database, or back into a new one')
  .argument('<from>', 'data directory of a stopped service, or URL of a database')
  .argument('<to>', 'URL of a database without data of a service, or a new folder')
  .option('--verify', 'read both sides again, and compare the rows of each kind')
  .addHelpText('after', '\nVariables: SERVICE_SECRETS_KEY, SERVICE_DATABASE_SCHEMA, SERVICE_DATABASE_POOLED')
  .action(
    guarded(async (from: string, to: string, { verify = false }: { verify?: boolean }) => {
      const [fromDatabase, toDatabase] = [isDatabaseUrl(from), isDatabaseUrl(to)];
      if (fromDatabase === toDatabase)
        throw new Usage(
          'one of <from> and <to> must be a URL that begins with postgresql://, the other a folder',
        );
      const [url, dir] = fromDatabase ? [from, to] : [to, from];
      const settings = await readDatabaseSettings(url);
      const copy: Copy = {
        folder: { dir, secretsKey: settings.secrets_key, warn },
        database: databaseOptions(url, settings),
        verify,
        report: createReport(),
      };
      await (fromDatabase ? copyIntoFolder(copy) : copyIntoDatabase(copy)).finally(copy.report.end);
    }),
  );

type Copy = { folder: FolderOptions; database: CopyOptions; verify: boolean; report: Report };

const databaseOptions = (
  url: string,
  { database: { schema, pooled }, cluster: { lease_ttl_ms }, secrets_key }: Settings,
): CopyOptions => ({
  ...{ url, schema, pooled, leaseTtlMs: lease_ttl_ms, secretsKey: secrets_key },
  program: version,
  now: Date.now,
  newId: createIds().uuid,
  warn,
});

const warn = (problem: string): void => void process.stderr.write(`troupe: ${problem}\n`);

const copyIntoDatabase = async ({ folder, database, verify, report }: Copy): Promise<void> => {
  const { openExport } = await import('../store/folder-export.ts');
  const { copyToDatabase, readDatabase } = await import('../postgres/copy.ts');
  refuseWithoutKey(folder);
  const opened = await openExport(folder);
  try {
    const rows = await copyToDatabase(opened, database, report.progress);
    report.copied(rows);
    if (verify) await compare({ from: pagesOf(opened), to: readDatabase(database), report });
  } finally {
    await opened.close();
  }
};

/** Members of a cluster open the secrets with the setting alone. */
const refuseWithoutKey = ({ dir, secretsKey }: FolderOptions): void => {
  if (secretsKey === undefined)
    throw new Unavailable(
      `the secrets in '${dir}' are encrypted: set SERVICE_SECRETS_KEY to their key, or SERVICE_SECRETS_KEY_FILE to the secrets.key of the folder; the members of the cluster need the same`,
    );
};

function* pagesOf(folder: FolderExport): Generator<readonly ShippedRow[]> {
  for (const { rows } of folder.rows()) yield rows;
}

const copyIntoFolder = async ({ folder, database, verify, report }: Copy): Promise<void> => {
  const { importFolder, refuseUsedFolder } = await import('../store/folder-import.ts');
  const { readDatabase } = await import('../postgres/copy.ts');
  const { createDigesting } = await import('../postgres/digest.ts');
  refuseUsedFolder(folder.dir);
  // Members may write while this copies: the rows that were read are compared.
  const read = createDigesting();
  let count = 0;
  async function* rows(): AsyncGenerator<readonly ShippedRow[], void> {
    for await (const page of readDatabase(database)) {
      if (verify) read.add(page);
      yield page;
      count += page.length;
      report.progress({ kind: page.at(-1)?.kind ?? 0, rows: count });
    }
  }
  await importFolder({ ...folder, rows: rows() });
  report.copied(count);
  if (!verify) return;
  const { openExport } = await import('../store/folder-export.ts');
  const opened = await openExport(folder);
  try {
    await compare({ from: read.digests, to: pagesOf(opened), report });
  } finally {
    await opened.close();
  }
};

type Pages = AsyncIterable<readonly ShippedRow[]> | Iterable<readonly ShippedRow[]>;

/** @throws Unavailable when the sides differ */
const compare = async ({
  from,
  to,
  report,
}: {
  from: Digests | Pages;
  to: Pages;
  report: Report;
}): Promise<void> => {
  const { createDigesting, differencesOf } = await import('../postgres/digest.ts');
  const { SHIPPED } = await import('../store/kinds.ts');
  const digestsOf = async (pages: Pages): Promise<Digests> => {
    const digesting = createDigesting();
    for await (const page of pages) digesting.add(page);
    return digesting.digests;
  };
  const digests = from instanceof Map ? from : await digestsOf(from);
  const differences = differencesOf(digests, await digestsOf(to));
  const nameOf = (kind: number): string => SHIPPED.find(({ number }) => number === kind)?.table ?? `${kind}`;
  if (differences.length > 0)
    throw new Unavailable(
      `the copy differs: ${differences.map(({ kind, from, to }) => `${nameOf(kind)} (${from} rows, then ${to})`).join(', ')}`,
    );
  report.verified([...digests.values()].reduce((sum, { count }) => sum + count, 0));
};

type Report = {
  progress(progress: CopyProgress): void;
  copied(rows: number): void;
  verified(rows: number): void;
  end(): void;
};

/** A line at the bottom of a terminal, otherwise JSON lines. */
const createReport = (): Report => {
  const line = createProgress();
  const started = performance.now();
  const isTerminal = process.stdout.isTTY === true;
  const rate = (rows: number): number =>
    Math.round(rows / Math.max(0.001, (performance.now() - started) / 1000));
  const note = (event: string, rows: number, text: string): void => {
    line.clear();
    const json = JSON.stringify({ event, rows, rows_per_second: rate(rows) });
    process.stdout.write(`${isTerminal ? text : json}\n`);
  };
  return {
    progress({ rows }) {
      if (isTerminal) line.show(`copying: ${rows} rows, ${rate(rows)} rows/s`);
      else note('copying', rows, '');
    },
    copied: (rows) => note('copied', rows, `copied: ${rows} rows, ${rate(rows)} rows/s`),
    verified: (rows) => note('verified', rows, `verified: ${rows} rows are the same on both sides`),
    end: line.clear,
  };
};
