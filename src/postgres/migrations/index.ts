import { functionsSql } from './functions-1.ts';
import { tablesSql } from './tables-1.ts';

/**
 * The versions of the schema, oldest first. Each is the SQL that makes it from the version before, in one transaction.
 *
 * A version that a member has made never changes. Within a major version of the program each only adds: members of two
 * versions work at the same time, each with the functions whose names have its number.
 */
export const MIGRATIONS: readonly ((schema: string) => string)[] = [
  (schema) => `${tablesSql(schema)}\n${functionsSql(schema)}`,
];

/** The oldest version that this program can migrate. */
export const OLDEST_VERSION = 1;
/** The version that this program needs. */
export const NEWEST_VERSION = MIGRATIONS.length;
