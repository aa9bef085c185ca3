import { z } from 'zod';

/** The members of a deployment (cluster.md 1.3). Without a database there is one: the process. */

const Member = z
  .object({
    id: z.string().meta({ description: 'new at every join' }),
    name: z.string().meta({ description: 'as the operator calls it; several members may have one name' }),
    url: z.string().meta({ description: 'where other members reach it; empty if it does not listen' }),
    state: z
      .enum(['starting', 'standby', 'active', 'isolated', 'draining', 'gone'])
      .meta({ description: '`isolated`: cut off from the database for too long to serve' }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'why the membership has ended: `left`, `fenced by <name>`' }),
    self: z.boolean().meta({ description: 'whether this member has answered' }),
    reachable: z
      .boolean()
      .nullable()
      .meta({ description: 'whether it answered the last request of this member; null if there was none' }),
    version: z.string(),
    joined_at: z.int().meta({ description: 'milliseconds since the epoch' }),
    lease_ms: z.int().nullable().meta({
      description: 'rest of its lease as the answering member sees it; null without a database',
    }),
    lineages: z.int().meta({ description: 'threads that it has' }),
    executing: z.int().meta({ description: 'runs that it executes' }),
    waiting: z.int().meta({ description: 'runs that wait for a free slot' }),
    commons_behind: z.int().meta({ description: 'changes of the configuration that it has not applied' }),
    copy_bytes: z.int().meta({ description: 'used bytes of its data file' }),
  })
  .meta({ id: 'Member', description: 'One process of a deployment.' });

export const Members = z
  .object({
    mode: z.enum(['embedded', 'postgres']),
    database: z
      .object({
        status: z.enum(['ok', 'error', 'timeout']),
        version: z.string(),
        schema: z.string(),
        pooled: z.boolean(),
        lease_ttl_ms: z.int().meta({ description: 'duration of a lease' }),
      })
      .nullable()
      .meta({ description: 'null in embedded mode' }),
    leader: z.string().nullable().meta({ description: 'the id of the member that has the data' }),
    members: z.array(Member),
  })
  .meta({ id: 'Members', description: 'The processes of a deployment, and of the last hour.' });
/**
 * The processes that share a database (cluster.md 1.3).
 *
 * @example
 * ```ts
 * const { members }: Members = await client.system.members();
 * const active = members.find(({ state }) => state === 'active')?.name;
 * ```
 */
export type Members = z.infer<typeof Members>;
