import { z } from 'zod';
import type { Members } from './members.ts';

/** The membership of a process in a cluster (cluster.md 1.3), as routes show it. */

export const DatabaseHealth = z.enum(['ok', 'error', 'timeout', 'none']);
export const MemberHealth = z.enum(['active', 'standby', 'isolated', 'starting', 'draining', 'none']);

/** The components of `/health` that concern a cluster; `none` without one. */
export type ClusterHealth = {
  database: z.infer<typeof DatabaseHealth>;
  member: z.infer<typeof MemberHealth>;
};

export type Membership = {
  /** As the operator calls this process. */
  readonly name: string;
  /** Null while it has not joined. */
  self(): { id: string; name: string } | null;
  health(): ClusterHealth;
  /** Whether requests are answered: with the data here (`active`), or by forwarding them. */
  canServe(role?: 'active'): boolean;
  members(): Members;
  /** Asks a member to take no more work and to leave. Returns false if there is no such live member. */
  drain(id: string): Promise<boolean>;
};
