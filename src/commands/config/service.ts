import { z } from 'zod';
import { JsonObject } from '../../schema/json.ts';
import { type AdminClient, type Connection, connectAdmin } from '../admin-client.ts';
import type { OverriddenNamespace } from './bundle.ts';

/** The configuration of a running service, over its public routes. All responses are redacted. */

const Entry = JsonObject;
const Entries = z.object({ items: z.array(Entry.and(z.object({ id: z.string() }))) });
const Metas = z.array(
  z.object({
    id: z.string(),
    meta: z.object({
      source: z.object({ kind: z.string() }),
      hidden: z.boolean(),
      user_overrides: Entry.optional(),
    }),
  }),
);
const Normalized = z.object({ normalized: Entry });

const Found = z.object({
  diagnostics: z.array(
    z.object({
      code: z.string(),
      resource: z.object({ namespace: z.string(), id: z.string() }),
      field: z.string().optional(),
    }),
  ),
});

export type DroppedSecret = { namespace: string; id: string; field: string };
export type Described = { builtin: boolean; hidden: boolean; overrides: JsonObject };
export type RemoteService = ReturnType<typeof configOf>;

export const connectService = (connection: Connection): RemoteService => configOf(connectAdmin(connection));

const configOf = (client: AdminClient) => {
  const ask: AdminClient['ask'] = (method, path, request) =>
    client.ask(method, ['v1', 'config', ...path], request);

  const entry = { schema: Entry };
  // A document without a secret is imported even if its entry is moved to another destination.
  const drops = 'moved_secrets=drop';
  return {
    async list(namespace: string) {
      return (await ask('GET', [namespace], { schema: Entries })).items;
    },
    async describe(namespace: string): Promise<Map<string, Described>> {
      const metas = await ask('GET', [namespace, 'meta'], { schema: Metas });
      return new Map(
        metas.map(({ id, meta: { source, hidden, user_overrides = {} } }) => [
          id,
          { builtin: source.kind === 'builtin', hidden, overrides: user_overrides },
        ]),
      );
    },
    /** @param id of the entry to replace */
    async validate(namespace: string, body: JsonObject, id?: string) {
      const query = id === undefined ? '' : `?id=${encodeURIComponent(id)}&${drops}`;
      return (await ask('POST', [namespace, 'validate'], { body, query, schema: Normalized })).normalized;
    },
    create: (namespace: string, body: JsonObject) => ask('POST', [namespace], { body, ...entry }),
    replace: (namespace: string, id: string, body: JsonObject) =>
      ask('PUT', [namespace, id], { body, query: `?${drops}`, ...entry }),
    remove: (namespace: string, id: string) => ask('DELETE', [namespace, id], { schema: z.unknown() }),
    async previewOverrides(id: string, body: JsonObject) {
      const request = { body, query: `?${drops}`, schema: Normalized };
      return (await ask('POST', ['agents', id, 'overrides'], request)).normalized;
    },
    override: (namespace: OverriddenNamespace, id: string, body: JsonObject) =>
      ask('PATCH', [namespace, id, 'overrides'], { body, query: `?${drops}`, ...entry }),
    async droppedSecrets(): Promise<DroppedSecret[]> {
      const { diagnostics } = await ask('GET', ['diagnostics'], { schema: Found });
      return diagnostics.flatMap(({ code, resource, field }) =>
        code === 'secret_dropped' && field !== undefined ? [{ ...resource, field }] : [],
      );
    },
    clearOverrides: (namespace: OverriddenNamespace, id: string, ...field: string[]) =>
      ask('DELETE', [namespace, id, 'overrides', ...field], entry),
  };
};
