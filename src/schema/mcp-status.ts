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
  })
  .meta({ id: 'McpStatus', description: 'How the connection is.' });
export type McpStatus = z.infer<typeof McpStatus>;

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
