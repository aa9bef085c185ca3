import { quotedSchema } from './identifier.ts';
import { MIGRATIONS, NEWEST_VERSION } from './migrations/index.ts';

/**
 * Returns the SQL that creates the newest version of a schema, for a database whose role may not create tables.
 *
 * @throws DatabaseRefused for a name that would mean something else in SQL
 */
export const schemaSql = (name: string, leaseTtlMs: number): string => {
  const schema = quotedSchema(name);
  const parts = MIGRATIONS.map((migration) => migration(schema).trim());
  return `-- Schema of a cluster, version ${NEWEST_VERSION}. The role of the members needs:
--   GRANT USAGE ON SCHEMA ${schema} TO role;
--   GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO role;
--   GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO role;
BEGIN;
CREATE SCHEMA IF NOT EXISTS ${schema};

${parts.join('\n\n')}

INSERT INTO ${schema}."meta" (name, value) VALUES
  ('version', '${NEWEST_VERSION}'), ('cluster_id', gen_random_uuid()::text), ('ready', 'true'),
  ('lease_ttl_ms', '${leaseTtlMs}'), ('commons', '0');
COMMIT;
`;
};
