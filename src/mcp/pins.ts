import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isObject } from '../schema/endpoint.ts';
import { BOUNDS } from './bounds.ts';
import type { ToolDefinition } from './listing.ts';

/**
 * Records the accepted definition of each tool: those of the first listing are accepted automatically, later ones by an
 * operator.
 *
 * Guarantees: a definition that differs from the accepted one remains a change until it is accepted or the server
 * reverts it. A tool that disappears keeps its record, so a server cannot replace a definition by hiding the tool for a
 * while.
 */

const ToolRecord = z.object({
  /** The accepted definition; absent for a later tool that is not accepted yet. */
  digest: z.string().optional(),
  /** Time in milliseconds at which the accepted definition was first offered; absent for the original one. */
  changed_at: z.int().optional(),
  /** A different definition that is not accepted yet. */
  pending: z.object({ digest: z.string(), seen_at: z.int() }).optional(),
});
type ToolRecord = z.infer<typeof ToolRecord>;

/** Records by tool name. */
export const ToolRecords = z.record(z.string(), ToolRecord);
export type ToolRecords = z.infer<typeof ToolRecords>;

export type ToolChange = {
  name: string;
  change: 'changed' | 'new';
  digest: string;
  accepted_digest: string | null;
};

/** Limit of records of tools that a server no longer lists. */
const MOST_UNLISTED = BOUNDS.entries;

/** Returns the records after a listing, and its changes. @param before undefined for the first listing of an entry */
export const reviewTools = (
  before: ToolRecords | undefined,
  definitions: readonly ToolDefinition[],
  now: number,
): { records: ToolRecords; changes: readonly ToolChange[] } => {
  const records = new Map<string, ToolRecord>();
  const changes: ToolChange[] = [];
  for (const definition of definitions) {
    const { name } = definition;
    const digest = digestOf(definition);
    const known = before && Object.hasOwn(before, name) ? before[name] : undefined;
    if (!before || known?.digest === digest) records.set(name, accepted(digest, known?.changed_at));
    else if (known?.pending?.digest === digest) records.set(name, known);
    else {
      records.set(name, { ...known, pending: { digest, seen_at: now } });
      const accepted_digest = known?.digest ?? null;
      changes.push({ name, change: changeOf(known), digest, accepted_digest });
    }
  }
  const unlisted = Object.entries(before ?? {}).filter(([name]) => !records.has(name));
  return {
    records: Object.fromEntries([...unlisted.slice(-MOST_UNLISTED), ...records]),
    changes,
  };
};

const accepted = (digest: string, changed_at: number | undefined): ToolRecord => ({
  digest,
  ...(changed_at !== undefined && { changed_at }),
});

const changeOf = (known: Pick<ToolRecord, 'digest'> | undefined): ToolChange['change'] =>
  known?.digest === undefined ? 'new' : 'changed';

/** Returns definitions that require acceptance, by name. */
export const pendingTools = (
  records: ToolRecords,
): { name: string; change: ToolChange['change']; digest: string; seen_at: number }[] =>
  Object.entries(records).flatMap(([name, { digest, pending }]) =>
    pending ? [{ name, change: changeOf({ digest }), ...pending }] : [],
  );

/** Returns the time in milliseconds at which the offered definition was first offered, or 0 for the original one. */
export const changedAt = (records: ToolRecords, name: string): number => {
  const record = Object.hasOwn(records, name) ? records[name] : undefined;
  return Math.max(record?.changed_at ?? 0, record?.pending?.seen_at ?? 0);
};

export type Acceptance = { name: string; digest: string };

/** @param held whether the definitions were held back, so that they are offered from now on */
export const acceptTools = (
  records: ToolRecords,
  tools: readonly Acceptance[],
  { held, now }: { held: boolean; now: number },
): ToolRecords => {
  const wanted = new Map(tools.map(({ name, digest }) => [name, digest]));
  return Object.fromEntries(
    Object.entries(records).map(([name, record]) => {
      const { pending } = record;
      if (!pending || wanted.get(name) !== pending.digest) return [name, record];
      return [name, accepted(pending.digest, held ? now : pending.seen_at)];
    }),
  );
};

/** Hashes the parts that a model reads or that affect calls. Other members may differ between listings. */
export const digestOf = (definition: ToolDefinition): string => {
  const { title, description, inputSchema, annotations, group, execution, _meta } = definition;
  const hashed = { title, description, inputSchema, annotations, group, execution, ui: _meta?.ui };
  return createHash('sha256')
    .update(JSON.stringify(sorted(hashed)))
    .digest('hex');
};

/** The order of members is not significant. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
};
