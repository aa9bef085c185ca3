import type { z } from 'zod';
import { Invalid, NotFound, type Outcome, Unprocessable } from '../schema/outcome.ts';
import { phrases } from '../schema/phrases.ts';
import { parseJson } from './body.ts';
import { describeIssues } from './issues.ts';
import { parseQuery } from './query.ts';
import type { Endpoint } from './router.ts';

/** What a request brought, still as text. */
export type Incoming = { params: Record<string, string>; query: string; body: string };

export type Decoded = { params: unknown; query: unknown; body: unknown };

/**
 * Text to what the schemas of a route say, the first failure in this order: JSON 400, query 400, body 422.
 * @throws Invalid, Unprocessable, NotFound
 */
export const decode = (endpoint: Endpoint, incoming: Incoming): Decoded => {
  const json = endpoint.reads === 'json' ? parseJson(incoming.body) : incoming.body;
  const query = endpoint.query && parse(endpoint.query, parseQuery(incoming.query), Invalid);
  const body = endpoint.body ? parse(endpoint.body, json, Unprocessable) : textOf(endpoint, incoming);
  const params = endpoint.params && parse(endpoint.params, incoming.params, NotFound);
  return { params, query, body };
};

const textOf = ({ reads }: Endpoint, { body }: Incoming): string | undefined =>
  reads === 'text' ? body : undefined;

const parse = (schema: z.ZodType, value: unknown, Failure: new (message: string) => Outcome): unknown => {
  const result = schema.safeParse(value, phrases);
  if (!result.success) throw new Failure(describeIssues(result.error));
  return result.data;
};
