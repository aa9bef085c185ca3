import { z } from 'zod';
import { Json } from './json.ts';

/** The published versions of an agent (config.md 8.1). */

export const AgentVersion = z
  .object({
    version: z.int(),
    published_at: z
      .int()
      .optional()
      .meta({ description: 'milliseconds since the epoch; absent if an earlier release published it' }),
    actor: z.string().optional().meta({ description: 'the actor of its first publication' }),
    hash: z.string().meta({ description: '`sha256:` and the hash of its spec' }),
    current: z.boolean().meta({ description: 'whether runs of the plain id use it' }),
  })
  .meta({
    id: 'AgentVersion',
    description: 'A published version of an agent.',
    examples: [
      {
        version: 3,
        published_at: 1765000400000,
        actor: 'key:0193f0aa',
        hash: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        current: true,
      },
    ],
  });
/**
 * A published version of an agent, whose address is `<id>@<version>` (config.md 8.1).
 *
 * @example
 * ```ts
 * const [newest]: AgentVersion[] = await client.config.versions('default');
 * console.log(newest?.version, newest?.current);
 * ```
 */
export type AgentVersion = z.infer<typeof AgentVersion>;

export const AgentVersionDiff = z
  .array(z.object({ op: z.string(), path: z.string(), from: z.string().optional(), value: Json.optional() }))
  .meta({
    id: 'AgentVersionDiff',
    description: 'The operations of JSON Patch that lead from one version to the other, without secrets.',
    examples: [[{ op: 'replace', path: '/system_prompt', value: 'Answer in one verse.' }]],
  });
/**
 * The difference of two versions of an agent as JSON Patch (RFC 6902), without secrets.
 *
 * @example
 * ```ts
 * const changes: AgentVersionDiff = await client.config.versionDiff('default', { from: 1, to: 1 });
 * for (const { op, path } of changes) console.log(op, path);
 * ```
 */
export type AgentVersionDiff = z.infer<typeof AgentVersionDiff>;
