import { z } from 'zod';
import { type McpInventory, McpPrompt, McpResource } from '../schema/mcp-status.ts';
import { linkTo, noted } from './call.ts';
import { type Connection, masked } from './connection.ts';
import { wordsOf } from './failure.ts';
import { type Link, supports } from './link.ts';
import { listAll } from './listing.ts';
import type { Offer } from './offer.ts';
import { type Shared, statusOf } from './status.ts';

/**
 * Prompts and resources of a server as it lists them now (mcp.md B12). An unavailable server has none, with a reason.
 */

const Argument = z.object({
  name: z.string(),
  description: z.string().optional(),
  required: z.boolean().default(false),
});

const Prompt = McpPrompt.extend({ arguments: z.array(Argument).default([]) });

type Lists = Pick<McpInventory, 'prompts' | 'resources'>;

/** Prompts and resources of accounts are not shown. */
export const readInventory = async (
  connection: Connection,
  offer: Offer,
  shared?: Shared,
): Promise<McpInventory> => {
  const { actor } = connection;
  if (shared) return { ...statusOf(connection, offer, shared), prompts: [], resources: [] };
  if (!actor.getSnapshot().hasTag('connected'))
    return { ...statusOf(connection, offer), prompts: [], resources: [] };
  try {
    const lists = await listsOf(connection, linkTo(connection));
    return { ...statusOf(connection, offer), ...lists };
  } catch (error) {
    const last_error = masked(connection, wordsOf(error));
    return { ...statusOf(connection, offer), last_error, prompts: [], resources: [] };
  }
};

const listsOf = async (connection: Connection, link: Link): Promise<Lists> => {
  const { spec, target } = connection;
  const asking = { timeoutMs: target.timeoutMs, report: () => {} };
  const read = (capability: 'prompts' | 'resources'): Promise<unknown[]> =>
    supports(link, capability)
      ? noted(connection, () => listAll(link, { method: `${capability}/list`, member: capability }, asking))
      : Promise.resolve([]);
  const [prompts, resources] = await Promise.all([read('prompts'), read('resources')]);
  const offered = { server_name: spec.id, transport_type: target.kind };
  return {
    prompts: legal(Prompt, prompts)
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map((prompt) => ({ ...offered, prompt })),
    resources: legal(McpResource, resources)
      .sort((one, other) => (one.uri < other.uri ? -1 : 1))
      .map((resource) => ({ ...offered, resource })),
  };
};

/** Omits invalid items and unknown members. */
const legal = <Value>(schema: z.ZodType<Value>, items: readonly unknown[]): Value[] =>
  items.flatMap((item) => schema.safeParse(item).data ?? []);
