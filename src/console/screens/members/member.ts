import { fields, flag, list, nullable, number, object, text, withDefault } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';

/** The processes of a deployment (cluster.md 1.3). */

const Member = object({
  ...fields(text, 'id', 'name', 'url', 'state', 'version'),
  reason: nullable(text),
  self: flag,
  reachable: nullable(flag),
  ...fields(number, 'joined_at', 'lineages', 'executing', 'waiting', 'copy_bytes'),
  lease_ms: nullable(number),
});
export type Member = ReturnType<typeof Member>;

const Members = object({
  mode: text,
  database: nullable(
    object({
      ...fields(text, 'status', 'version', 'schema'),
      pooled: flag,
      lease_ttl_ms: withDefault(number, 10_000),
    }),
  ),
  members: list(Member),
});
type Members = ReturnType<typeof Members>;

export const MEMBERS: Resource<Members> = { path: '/v1/system/members', guard: Members, every: 2000 };

/** A member, with the rest of its lease as a share of a whole one; null without a lease. */
export type ListedMember = Member & { lease: number | null };

export const listedMembers = ({ members, database }: Members): readonly ListedMember[] =>
  members.map((member) => {
    const { lease_ms } = member;
    return { ...member, lease: lease_ms === null || !database ? null : lease_ms / database.lease_ttl_ms };
  });

export const MEMBER_STATES = ['starting', 'standby', 'active', 'isolated', 'draining', 'gone'] as const;

/** A member that is leaving, or has left, cannot be drained. */
export const mayDrain = ({ state }: Member): boolean => state !== 'gone' && state !== 'draining';
