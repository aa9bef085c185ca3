import { z } from 'zod';

/** How the connection to an MCP server is, and what the server offers (config.md 13.1, 13.3). */

const seconds = z.int().nullable();

export const McpStatus = z
  .object({
    connected: z.boolean(),
    last_error: z.string().nullable(),
    tools: z.array(z.object({ name: z.string(), description: z.string().nullable() })).meta({
      description: 'of the last discovery, under the names that the server gives them',
    }),
    consecutive_failures: z.int(),
    last_attempt_at: seconds.meta({ description: 'seconds since the epoch, as all times here' }),
    last_success_at: seconds,
    reconnecting: z.boolean(),
    permanently_failed: z.boolean(),
    session_generation: z.int().meta({ description: '0 for stdio' }),
    transport_reconnect_count: z.int(),
    last_init_at: seconds,
    left_out: z.array(z.object({ name: z.string(), reason: z.string() })).meta({
      description: 'tools that the server lists and agents are not offered',
    }),
    changed_tools: z
      .array(
        z.object({
          name: z.string(),
          change: z.enum(['changed', 'new']),
          digest: z.string().meta({ description: 'of the definition as it is now; an acceptance names it' }),
          seen_at: z.int(),
          held: z.boolean().meta({ description: 'not offered until it is accepted' }),
        }),
      )
      .meta({
        description:
          'tools whose definition is new or has changed since it was accepted; of the first listing all are',
      }),
  })
  .meta({ id: 'McpStatus', description: 'How the connection is.' });
export type McpStatus = z.infer<typeof McpStatus>;

const Acceptance = z.object({ name: z.string(), digest: z.string() });

export const McpToolsAcceptance = z
  .object({
    tools: z
      .array(Acceptance)
      .min(1)
      .max(1000)
      .meta({ description: 'as `changed_tools` of the status shows them' }),
  })
  .meta({ id: 'McpToolsAcceptance', description: 'Definitions of tools that are accepted.' });
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
}).meta({ id: 'McpInventory', description: 'How the connection is, and what the server offers.' });
export type McpInventory = z.infer<typeof McpInventory>;

/** What the metrics call the state of a connection. */
export const MCP_STATES = [
  'connecting',
  'ready',
  'disconnected',
  'reconnecting',
  'given_up',
  'stopping',
] as const;
export type McpState = (typeof MCP_STATES)[number];
