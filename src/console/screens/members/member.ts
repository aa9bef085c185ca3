import { flag, type Guarded, list, nullable, number, object, text, withDefault } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';

/** The processes of a deployment (cluster.md 1.3). */

const Member = object({
  id: text,
  name: text,
  url: text,
  state: text,
  reason: nullable(text),
  self: flag,
  reachable: nullable(flag),
  version: text,
  joined_at: number,
  lease_ms: nullable(number),
  lineages: number,
  executing: number,
  waiting: number,
  copy_bytes: number,
});
export type Member = Guarded<typeof Member>;

const Members = object({
  mode: text,
  database: nullable(
    object({
      status: text,
      version: text,
      schema: text,
      pooled: flag,
      lease_ttl_ms: withDefault(number, 10_000),
    }),
  ),
  members: list(Member),
});
type Members = Guarded<typeof Members>;

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
