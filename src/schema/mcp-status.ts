import { z } from 'zod';

/** The status of the connection to an MCP server, and what the server offers (config.md 13.1, 13.3). */

const seconds = z.int().nullable();

export const McpStatus = z
  .object({
    connected: z.boolean(),
    last_error: z.string().nullable(),
    tools: z.array(z.object({ name: z.string(), description: z.string().nullable() })).meta({
      description: 'tools of the last discovery, by the names of the server',
    }),
    consecutive_failures: z.int(),
    last_attempt_at: seconds.meta({ description: 'seconds since the epoch, like all times of this schema' }),
    last_success_at: seconds,
    reconnecting: z.boolean(),
    permanently_failed: z.boolean(),
    session_generation: z.int().meta({ description: '0 for stdio' }),
    transport_reconnect_count: z.int(),
    last_init_at: seconds,
    left_out: z.array(z.object({ name: z.string(), reason: z.string() })).meta({
      description: 'listed tools that are not offered to agents',
    }),
    changed_tools: z
      .array(
        z.object({
          name: z.string(),
          change: z.enum(['changed', 'new']),
          digest: z
            .string()
            .meta({ description: 'digest of the current definition, which an acceptance names' }),
          seen_at: z.int(),
          held: z.boolean().meta({ description: 'not offered until accepted' }),
        }),
      )
      .meta({
        description:
          'tools whose definition is new or changed since it was accepted; definitions of the first listing are accepted',
      }),
  })
  .meta({ id: 'McpStatus', description: 'State of the connection.' });
export type McpStatus = z.infer<typeof McpStatus>;

const Acceptance = z.object({ name: z.string(), digest: z.string() });

export const McpToolsAcceptance = z
  .object({
    tools: z
      .array(Acceptance)
      .min(1)
      .max(1000)
      .meta({ description: 'names and digests as in `changed_tools` of the status' }),
  })
  .meta({ id: 'McpToolsAcceptance', description: 'Tool definitions to accept.' });
export type McpToolsAcceptance = z.infer<typeof McpToolsAcceptance>;

const offered = { server_name: z.string(), transport_type: z.enum(['stdio', 'http']) };

export const McpPrompt = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  arguments: z.array(
    z.object({ name: z.string(), description: z.string().optional(), required: z.boolean() }),
  ),
});

export const McpResource = z.object({
  uri: z.string(),
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  size: z.int().optional(),
});

export const McpInventory = McpStatus.extend({
  prompts: z.array(z.object({ ...offered, prompt: McpPrompt })),
  resources: z.array(z.object({ ...offered, resource: McpResource })),
}).meta({ id: 'McpInventory', description: 'State of the connection, and the tools of the server.' });
export type McpInventory = z.infer<typeof McpInventory>;

/** States of a connection in the metrics. */
export const MCP_STATES = [
  'connecting',
  'ready',
  'disconnected',
  'reconnecting',
  'given_up',
  'stopping',
] as const;
export type McpState = (typeof MCP_STATES)[number];
