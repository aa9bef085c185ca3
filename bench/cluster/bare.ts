import { Client } from 'pg';

/**
 * The rows of commits without anything else that a commit does, on a bare connection: one statement puts them into a
 * table with the columns and indexes of the one of members.
 */
export type Bare = {
  /** Takes the arrays of a commit, as a member sends them. */
  commit(values: readonly Buffer[]): Promise<void>;
  end(): Promise<void>;
};

const TABLES = `
CREATE SCHEMA bare;
CREATE TABLE bare."row" (LIKE troupe."row" INCLUDING ALL) WITH (fillfactor = 90)`;

const COLUMNS = 'kind, key, lineage, scope, a, b, c, d, at, at2, value';
const TYPES = [
  'smallint',
  'text',
  'bigint',
  'text',
  'text',
  'text',
  'text',
  'text',
  'bigint',
  'bigint',
  'text',
];

/** Arrays of a commit that are no rows: owners, births, releases and their times. */
const NO_ROWS = 4;

const COMMIT = `
WITH gone AS (
  DELETE FROM bare."row" r USING unnest($1::smallint[], $2::text[]) AS g (kind, key)
  WHERE r.kind = g.kind AND r.key = g.key
)
INSERT INTO bare."row" (${COLUMNS})
SELECT * FROM unnest(${TYPES.map((type, index) => `$${index + 3}::${type}[]`).join(', ')})
ON CONFLICT (kind, key) DO UPDATE SET scope = excluded.scope, a = excluded.a, b = excluded.b, c = excluded.c,
  d = excluded.d, at = excluded.at, at2 = excluded.at2, value = excluded.value`;

/** @param url a database that has the schema of a cluster */
export const openBare = async (url: string): Promise<Bare> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(TABLES);
  return {
    async commit(values) {
      await client.query({ name: 'commit', text: COMMIT, values: values.slice(NO_ROWS) });
    },
    end: () => client.end(),
  };
};
