import { z } from 'zod';
import { secretsCheck } from './agreement.ts';
import { DatabaseRefused } from './errors.ts';
import { quotedSchema } from './identifier.ts';
import type { Lane } from './lane.ts';
import { readMeta } from './prepare.ts';

/** The state of a copy in its schema: `meta.copied` until the copy is complete. */
export type CopyState = {
  /** The folder that is copied, and its openings when the last process began to copy. */
  folder: string;
  openings: number;
  /** The last row that the schema has. */
  place?: { kind: number; key: (string | number)[] } | undefined;
};

const State = z.object({
  folder: z.string(),
  openings: z.int(),
  place: z.object({ kind: z.int(), key: z.array(z.union([z.string(), z.number()])) }).optional(),
});

export type Target = { lane: Pick<Lane, 'query'>; schema: string; timeoutMs: number };

type Source = { id: string; openings: number; secretsKey: string | undefined };

/** Returns where to continue, and notes that this process copies. @throws DatabaseRefused */
export const readTarget = async (
  target: Target,
  { id, openings, secretsKey }: Source,
): Promise<CopyState> => {
  const meta = await readMeta(target.lane, target.schema, target.timeoutMs);
  const copied = meta.get('copied');
  const earlier = copied === undefined ? undefined : State.parse(JSON.parse(copied));
  if (earlier) checkFolder(target, earlier, { id, openings });
  else if (await hasData(target)) throw notEmpty(target);
  await checkSecrets(meta, secretsKey);
  const state: CopyState = { folder: id, openings, ...(earlier?.place && { place: earlier.place }) };
  await writeMeta(target, {
    ready: 'false',
    copied: JSON.stringify(state),
    secrets_check: await secretsCheck(clusterOf(meta), secretsKey),
  });
  return state;
};

const clusterOf = (meta: ReadonlyMap<string, string>): string => meta.get('cluster_id') ?? '';

/** @throws DatabaseRefused unless the key is that of the schema */
export const checkSecrets = async (
  meta: ReadonlyMap<string, string>,
  key: string | undefined,
): Promise<void> => {
  const stored = meta.get('secrets_check');
  if (stored === undefined || stored === (await secretsCheck(clusterOf(meta), key))) return;
  throw new DatabaseRefused(
    key === undefined
      ? 'the secrets in the database are encrypted: set SERVICE_SECRETS_KEY to their key'
      : 'SERVICE_SECRETS_KEY is not the key of the secrets in the database',
  );
};

/** The copy itself opens the folder once. */
const checkFolder = (
  { schema }: Target,
  earlier: CopyState,
  { id, openings }: { id: string; openings: number },
): void => {
  const why =
    earlier.folder !== id
      ? 'it has a part of another data directory'
      : earlier.openings + 1 < openings
        ? 'the data directory was used since the copy began'
        : undefined;
  if (why === undefined) return;
  throw new DatabaseRefused(
    `the copy into the schema '${schema}' cannot continue: ${why}; remove the schema (DROP SCHEMA ${schema} CASCADE) and copy again`,
  );
};

const notEmpty = ({ schema }: Target): DatabaseRefused =>
  new DatabaseRefused(
    `the schema '${schema}' is not empty: set SERVICE_DATABASE_SCHEMA to another one, or remove this one (DROP SCHEMA ${schema} CASCADE)`,
  );

/** Whether there are rows, or members that could write some. */
const hasData = async ({ lane, schema, timeoutMs }: Target): Promise<boolean> => {
  const inSchema = quotedSchema(schema);
  const text = `SELECT EXISTS (SELECT FROM ${inSchema}."row")
    OR EXISTS (SELECT FROM ${inSchema}."member" WHERE state <> 'gone') AS used`;
  const [row] = await lane.query<{ used: boolean }>({ text, values: [] }, timeoutMs);
  return row?.used === true;
};

/** Sets values in one statement; an undefined one is removed. */
export const writeMeta = async (
  { lane, schema, timeoutMs }: Target,
  values: Readonly<Record<string, string | undefined>>,
): Promise<void> => {
  const meta = `${quotedSchema(schema)}."meta"`;
  const text = `WITH given AS (SELECT name, value FROM json_each_text($1::json) AS g (name, value)),
    gone AS (DELETE FROM ${meta} m USING given g WHERE m.name = g.name AND g.value IS NULL)
    INSERT INTO ${meta} (name, value) SELECT name, value FROM given WHERE value IS NOT NULL
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  const given = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? null]));
  await lane.query({ text, values: [JSON.stringify(given)] }, timeoutMs);
};
