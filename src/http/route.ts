import type { z } from 'zod';

/**
 * A route declares everything about itself in one value: the router, the decoder and the OpenAPI document all
 * read it.
 *
 * @example
 * route.get('/v1/threads/:id', {
 *   summary: 'One thread',
 *   scope: 'agent-invocation',
 *   params: z.object({ id: z.string() }),
 *   responses: { 200: Thread, 404: ErrorBody },
 *   handle: ({ params, scope }) => threads.get(scope, params.id),
 * });
 */

/** Which right a request needs: none, a scope, or the admin bearer and a scope (config.md 1.1, 1.3). */
export type Surface = 'none' | 'agent-invocation' | 'admin';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

export type RouteRequest<P, Q, B> = {
  params: P;
  query: Q;
  body: B;
  /** The scope id; empty on surface `none`. */
  scope: string;
  /** The first value of a request header, `undefined` when it is missing or empty. */
  header(name: string): string | undefined;
  /** The one that the client gave, if it is a sane one. */
  requestId: string;
  /** Address of the client; behind a trusted proxy, the one it names. Empty once the client has gone. */
  ip(): string;
  /** Whether there is such a header, also an empty one. */
  names(header: string): boolean;
  /** The path of the route as declared, such as `/v1/threads/:id`. */
  route: string;
  /** The answer may take long by design: from now on the request does not count as a concurrent one. */
  hold(): void;
  /** Called when the client goes away before it has its answer; at once if it has gone already. */
  onGone(listener: () => void): void;
};

/** Without a schema, `params`, `query` and `body` are `undefined`, and any or no body is accepted. */
export type RouteSpec<P, Q, B> = {
  summary: string;
  tag?: string;
  scope: Surface;
  params?: z.ZodType<P>;
  query?: z.ZodType<Q>;
  body?: z.ZodType<B>;
  /** `text`: the handler gets the body as it came, whatever its type; `body` only describes it. */
  reads?: 'text';
  bodyLimit?: 'default' | 'attachments' | 'evals';
  /** By status: the schema of the JSON body, or the description of a response that has none. */
  responses: Record<number, z.ZodType | string>;
  /** Returns (a promise of) a reply, an event stream, or a value: 200 as JSON, or empty when undefined. */
  handle(request: RouteRequest<P, Q, B>): unknown;
};

/** A route with its types erased. HEAD of a `get` route is answered like GET, without the body. */
export type Route = { method: Method; path: string; spec: RouteSpec<unknown, unknown, unknown> };

const declare =
  (method: Method) =>
  <P = undefined, Q = undefined, B = undefined>(path: string, spec: RouteSpec<P, Q, B>): Route => ({
    method,
    path,
    spec,
  });

export const route = {
  get: declare('get'),
  post: declare('post'),
  put: declare('put'),
  patch: declare('patch'),
  delete: declare('delete'),
};

export { plainText, reply } from './reply.ts';
