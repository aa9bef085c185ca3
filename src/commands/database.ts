import { Command } from 'commander';
import { readDatabaseSettings } from './database-settings.ts';
import { renderFinding } from './doctor.ts';
import { guarded, Usage } from './usage.ts';

/** `troupe database`: the schema of a cluster, and its consistency. */

const VARIABLES = `
Variables: SERVICE_DATABASE_URL, SERVICE_DATABASE_SCHEMA, SERVICE_LEASE_TTL_MS, SERVICE_SECRETS_KEY`;

const schemaCommand = new Command('schema')
  .description('print the SQL that creates the tables, for a role that may not create them')
  .addHelpText('after', VARIABLES)
  .action(
    guarded(async () => {
      const { database, cluster } = await readDatabaseSettings(NO_URL);
      const { schemaSql } = await import('../postgres/schema-sql.ts');
      process.stdout.write(schemaSql(database.schema, cluster.lease_ttl_ms));
    }),
  );

/** The settings of a cluster are only allowed with a database, which this command does not use. */
const NO_URL = 'postgresql://localhost/none';

const checkCommand = new Command('check')
  .description('check all data of a database (exit 0: healthy, 1: check failed, 2: damaged)')
  .option('--json', 'print one JSON object')
  .addHelpText('after', VARIABLES)
  .action(
    guarded(async ({ json = false }: { json?: boolean }) => {
      const { database, secrets_key } = await readDatabaseSettings();
      if (database.url === undefined) throw new Usage('SERVICE_DATABASE_URL is not set');
      const { checkDatabase } = await import('../postgres/check.ts');
      const report = await checkDatabase({
        url: database.url,
        schema: database.schema,
        secretsKey: secrets_key,
        warn: (message) => void process.stderr.write(`troupe: ${message}\n`),
      });
      const { findings, rows } = report;
      const lines = findings.length === 0 ? ['no problems found'] : findings.map(renderFinding);
      const text = [...lines, `${rows} rows were read`].join('\n');
      process.stdout.write(`${json ? JSON.stringify(report) : text}\n`);
      process.exitCode = findings.length === 0 ? 0 : 2;
    }),
  );

export const databaseCommand = new Command('database')
  .description('schema and consistency of the PostgreSQL database of a cluster')
  .addCommand(schemaCommand)
  .addCommand(checkCommand);
