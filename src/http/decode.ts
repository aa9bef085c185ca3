import { z } from 'zod';
import { Invalid, NotFound, type Outcome, Unprocessable } from '../schema/outcome.ts';
import { describeIssues, phrases } from '../schema/phrases.ts';
import { parseJson } from './body.ts';
import { parseQuery, repeatedKey } from './query.ts';
import type { Endpoint } from './router.ts';

/** The raw parts of a request; `body` is the result of `readAs`. */
export type Incoming = { params: Record<string, string>; query: string; body: unknown };

export type Decoded = { params: unknown; query: unknown; body: unknown };

/**
 * Converts the text of a body to the form that the route reads.
 * @throws Invalid
 */
export const readAs = ({ reads }: Endpoint, text: string): unknown => {
  if (reads === 'nothing') return undefined;
  return reads === 'json' ? parseJson(text) : text;
};

/**
 * Validates a request against the schemas of its route. The first failure decides the status: query 400, body 422, path
 * 404.
 * @throws Invalid, Unprocessable, NotFound
 */
export const decode = (endpoint: Endpoint, incoming: Incoming): Decoded => {
  const query = endpoint.query && parse(endpoint.query, queryOf(endpoint.query, incoming.query), Invalid);
  const shape = endpoint.reads === 'json' ? endpoint.body : undefined;
  const body = shape ? parse(shape, incoming.body, Unprocessable) : incoming.body;
  const params = endpoint.params && parse(endpoint.params, incoming.params, NotFound);
  return { params, query, body };
};

/** A schema that rejects unknown keys also rejects repeated ones. */
const queryOf = (schema: z.ZodType, text: string): Record<string, string> => {
  const isClosed = schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodNever;
  const repeated = isClosed ? repeatedKey(text) : undefined;
  if (repeated !== undefined) throw new Invalid(`query parameter "${repeated}" is given more than once`);
  return parseQuery(text);
};

const parse = (schema: z.ZodType, value: unknown, Failure: new (message: string) => Outcome): unknown => {
  const result = schema.safeParse(value, phrases);
  if (!result.success) throw new Failure(describeIssues(result.error));
  return result.data;
};
