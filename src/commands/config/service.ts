import { z } from 'zod';
import type { JsonObject } from '../../schema/endpoint.ts';
import { Conflict, Invalid, NotFound, Unavailable } from '../../schema/outcome.ts';
import type { OverriddenNamespace } from './bundle.ts';
import { ConfigUsage } from './problems.ts';

/** The configuration of a running service, over its public routes. What it answers is redacted. */

const Entry = z.record(z.string(), z.json());
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

export type Described = { builtin: boolean; hidden: boolean; overrides: JsonObject };
export type RemoteService = ReturnType<typeof connectService>;

export const connectService = ({ url, token }: { url: string; token: string }) => {
  if (!URL.canParse(url)) throw new ConfigUsage(`--url: '${url}' is not a URL`);
  const base = url.replace(/\/+$/, '');

  const ask = async <Answer>(
    method: string,
    path: readonly string[],
    { body, query = '', schema }: { body?: unknown; query?: string; schema: z.ZodType<Answer> },
  ): Promise<Answer> => {
    const address = `${base}/v1/config/${path.map(encodeURIComponent).join('/')}${query}`;
    const response = await fetch(address, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause) => {
      throw new Unavailable(`no service answers at ${base}: start it, or name another one with --url`, {
        cause,
      });
    });
    const text = await response.text();
    if (!response.ok) throw refusal(response.status, text);
    return schema.parse(text === '' ? undefined : JSON.parse(text));
  };

  const entry = { schema: Entry };
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
    /** @param id of the entry that it would replace */
    async validate(namespace: string, body: JsonObject, id?: string) {
      const query = id === undefined ? '' : `?id=${encodeURIComponent(id)}`;
      return (await ask('POST', [namespace, 'validate'], { body, query, schema: Normalized })).normalized;
    },
    create: (namespace: string, body: JsonObject) => ask('POST', [namespace], { body, ...entry }),
    replace: (namespace: string, id: string, body: JsonObject) =>
      ask('PUT', [namespace, id], { body, ...entry }),
    remove: (namespace: string, id: string) => ask('DELETE', [namespace, id], { schema: z.unknown() }),
    async previewOverrides(id: string, body: JsonObject) {
      return (await ask('POST', ['agents', id, 'overrides'], { body, schema: Normalized })).normalized;
    },
    override: (namespace: OverriddenNamespace, id: string, body: JsonObject) =>
      ask('PATCH', [namespace, id, 'overrides'], { body, ...entry }),
    clearOverrides: (namespace: OverriddenNamespace, id: string, ...field: string[]) =>
      ask('DELETE', [namespace, id, 'overrides', ...field], entry),
  };
};

const refusal = (status: number, text: string): Error => {
  const message = messageIn(text) ?? `status ${status}`;
  if (status === 404) return new NotFound(message);
  return status === 409 ? new Conflict(message) : new Invalid(message);
};

const messageIn = (text: string): string | undefined => {
  try {
    return z.object({ error: z.string() }).parse(JSON.parse(text)).error;
  } catch {
    // A proxy in between may answer with anything.
    return undefined;
  }
};
