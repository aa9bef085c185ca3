import { DatabaseRefused } from './errors.ts';

/** A name of PostgreSQL that needs no quotes, and is not cut: the server keeps 63 bytes. */
const NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/** Returns the name of a schema in quotes. @throws DatabaseRefused for a name that would mean something else in SQL */
export const quotedSchema = (schema: string): string => {
  if (!NAME.test(schema)) {
    throw new DatabaseRefused(
      `the schema must have 1 to 63 lower-case letters, digits and underscores, and begin with no digit (got '${schema}')`,
    );
  }
  return `"${schema}"`;
};
