import { isDeepStrictEqual } from 'node:util';
import type { AuditDraft } from '../../schema/audit-event.ts';
import type { ConfigNamespace, ConfigRecord } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { nextRecord } from './records.ts';
import { type Change, recordsIn, type Stored } from './stored.ts';

/**
 * Plans the changes of stored entries at a start, so that they match the program (config.md 14). Nothing is stored
 * here.
 */

export type Seed = {
  /** Version of the program. */
  version: string;
  /** One for each entry, in its stored form. */
  entries: readonly { namespace: ConfigNamespace; id: string; spec: JsonObject }[];
};

export type SeedPlan = { changes: Change[]; events: AuditDraft[] };

export const SEED_ACTOR = 'system:seed';

type Bucket = 'created' | 'updated' | 'deleted';

export const planSeed = (stored: Stored, { version, entries }: Seed, now: number): SeedPlan => {
  const buckets: Record<Bucket, Change[]> = { created: [], updated: [], deleted: [] };
  for (const { namespace, id, spec } of entries) {
    const before = stored[namespace].get(id);
    if (before && isUnchanged(before, version, spec)) continue;
    const source = { kind: 'builtin' as const, binary_version: version };
    const { user_overrides } = before ?? {};
    const record = nextRecord(before, {
      namespace,
      id,
      spec,
      source,
      now,
      actor: SEED_ACTOR,
      ...(user_overrides && { user_overrides }),
    });
    buckets[before ? 'updated' : 'created'].push({ namespace, id, record });
  }
  const seeded = new Set(entries.map(({ namespace, id }) => `${namespace}/${id}`));
  const obsolete = recordsIn(stored).filter(
    ({ namespace, id, source }) => source.kind !== 'user' && !seeded.has(`${namespace}/${id}`),
  );
  buckets.deleted.push(...obsolete.flatMap((record) => removalOf(record, now)));
  return {
    changes: [...buckets.created, ...buckets.updated, ...buckets.deleted],
    events: BUCKETS.flatMap((bucket) => eventOf(bucket, buckets[bucket])),
  };
};

/** An entry that a user has overridden is hidden instead. */
const removalOf = (record: ConfigRecord, now: number): Change[] => {
  const { namespace, id, user_overrides, hidden } = record;
  if (!user_overrides) return [{ namespace, id, record: undefined }];
  return hidden ? [] : [{ namespace, id, record: hide(record, now) }];
};

const BUCKETS = ['created', 'updated', 'deleted'] as const;

/** Entries of a user are never changed. */
const isUnchanged = ({ source, spec, hidden }: ConfigRecord, version: string, seeded: JsonObject): boolean =>
  source.kind === 'user' || (source.binary_version === version && !hidden && isDeepStrictEqual(spec, seeded));

/** The overrides are kept and apply again when the entry returns. */
const hide = (record: ConfigRecord, now: number): ConfigRecord => ({
  ...record,
  hidden: true,
  updated_at: now,
  revision: record.revision + 1,
  actor: SEED_ACTOR,
});

const SAMPLE = 20;

const eventOf = (bucket: Bucket, changes: readonly Change[]): AuditDraft[] => {
  if (changes.length === 0) return [];
  const sample = changes.slice(0, SAMPLE).map(({ namespace, id }) => `${namespace}/${id}`);
  const after = { bucket, count: changes.length, sample, truncated: changes.length > SAMPLE };
  return [{ action: 'seed_apply', resource: `seed:${bucket}`, after }];
};
