import { isDeepStrictEqual } from 'node:util';
import { CONFIG_NAMESPACES, type ConfigNamespace, type ConfigRecord } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import type { AuditDraft } from './audit-log.ts';
import { nextRecord } from './records.ts';
import type { Change, Stored } from './stored.ts';

/** What a start does to the stored entries so that they are those of the program (config.md 14). Nothing is stored here. */

export type Seed = {
  /** of the program */
  version: string;
  /** One for each entry, in the form in which it is stored. */
  entries: readonly { namespace: ConfigNamespace; id: string; spec: JsonObject }[];
};

export type SeedPlan = { changes: Change[]; events: AuditDraft[] };

export const SEED_ACTOR = 'system:seed';

type Bucket = 'created' | 'updated' | 'deleted';

export const planSeed = (stored: Stored, { version, entries }: Seed, now: number): SeedPlan => {
  const buckets: Record<Bucket, Change[]> = { created: [], updated: [], deleted: [] };
  const seeded = new Set<string>();
  for (const { namespace, id, spec } of entries) {
    seeded.add(`${namespace}/${id}`);
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
  for (const record of recordsIn(stored)) {
    const { namespace, id, source, user_overrides, hidden } = record;
    if (source.kind === 'user' || seeded.has(`${namespace}/${id}`)) continue;
    if (!user_overrides) buckets.deleted.push({ namespace, id, record: undefined });
    else if (!hidden) buckets.deleted.push({ namespace, id, record: hide(record, now) });
  }
  return {
    changes: [...buckets.created, ...buckets.updated, ...buckets.deleted],
    events: BUCKETS.flatMap((bucket) => eventOf(bucket, buckets[bucket])),
  };
};

const BUCKETS = ['created', 'updated', 'deleted'] as const;

const recordsIn = (stored: Stored): ConfigRecord[] =>
  CONFIG_NAMESPACES.flatMap((namespace) => [...stored[namespace].values()]);

/** What its owner has written is his. */
const isUnchanged = ({ source, spec, hidden }: ConfigRecord, version: string, seeded: JsonObject): boolean =>
  source.kind === 'user' || (source.binary_version === version && !hidden && isDeepStrictEqual(spec, seeded));

/** Its overrides wait for its return. */
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
