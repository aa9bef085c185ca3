import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { z } from 'zod';
import { Conflict, Invalid, NotFound, Outcome, Unavailable } from '../schema/outcome.ts';
import { readEnvironment } from './environment.ts';
import { SERVICE_URL } from './service-url.ts';
import { Usage } from './usage.ts';

/**
 * Calls the public routes of a running service as an admin, or with another token. A POST whose connection is lost is
 * repeated once, under the same `Idempotency-Key`.
 */

const TOKEN_VARIABLE = 'SERVICE_ADMIN_API_BEARER_TOKEN';

export type Connection = { url: string; token?: string };

export const addressed = (command: Command): Command =>
  command
    .option('--url <url>', 'URL of the running service', SERVICE_URL)
    .option('--token <token>', `admin token, else ${TOKEN_VARIABLE}; visible to every user of the host`);

type AdminRequest<Answer> = {
  /** Sent as JSON. */
  body?: unknown;
  /** Sent instead of `body`. */
  form?: FormData;
  query?: string;
  schema: z.ZodType<Answer>;
};

export type AdminClient = {
  /** @throws Unavailable, Invalid, NotFound, Conflict: the error that the service returned */
  ask<Answer>(method: string, path: readonly string[], request: AdminRequest<Answer>): Promise<Answer>;
  /** Opens the body of a successful response as a stream. */
  open(path: readonly string[]): Promise<ReadableStream<Uint8Array>>;
};

/** @throws Usage */
export const connectAdmin = ({ url, token }: Connection): AdminClient => {
  const bearer = token ?? readEnvironment()[TOKEN_VARIABLE]?.trim();
  if (!bearer) throw new Usage(`an admin token is required: set ${TOKEN_VARIABLE}, or give --token`);
  if (!URL.canParse(url)) throw new Usage(`--url: '${url}' is not a URL`);
  const base = url.replace(/\/+$/, '');

  const send = async (
    method: string,
    path: readonly string[],
    { body, form, query = '', key }: Omit<AdminRequest<unknown>, 'schema'> & { key?: string },
  ): Promise<Response> => {
    const response = await fetch(`${base}/${path.map(encodeURIComponent).join('/')}${query}`, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(form && { body: form }),
    }).catch((cause) => {
      throw new Unavailable(`no service answers at ${base}: start it, or name another one with --url`, {
        cause,
      });
    });
    if (!response.ok) throw refusal(response.status, await response.text());
    return response;
  };

  return {
    async ask(method, path, { schema, ...request }) {
      const key = method === 'POST' ? { key: randomUUID() } : undefined;
      const attempt = async (): Promise<string> => (await send(method, path, { ...request, ...key })).text();
      const text = await attempt().catch((error) => {
        if (!key || isRefusal(error)) throw error;
        return attempt();
      });
      return schema.parse(text === '' ? undefined : JSON.parse(text));
    },
    async open(path) {
      const { body } = await send('GET', path, {});
      if (!body) throw new Unavailable(`${base} answered without a stream`);
      return body;
    },
  };
};

const isRefusal = (error: unknown): boolean => error instanceof Outcome && !(error instanceof Unavailable);

const refusal = (status: number, text: string): Error => {
  const message = messageIn(text) ?? `status ${status}`;
  if (status === 404) return new NotFound(message);
  return status === 409 ? new Conflict(message) : new Invalid(message);
};

/** Routes in the form of OpenAI have an object as their error. */
const REFUSED = z.object({ error: z.union([z.string(), z.object({ message: z.string() })]) });

const messageIn = (text: string): string | undefined => {
  try {
    const { error } = REFUSED.parse(JSON.parse(text));
    return typeof error === 'string' ? error : error.message;
  } catch {
    // A proxy may respond with any body.
    return undefined;
  }
};
