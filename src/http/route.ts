import type { z } from 'zod';
import type { Answer, ErrorDescription, RequestHeaderName } from './described.ts';

/**
 * A route declares everything about itself in one value: the router, the decoder and the OpenAPI document all
 * read it.
 *
 * @example
 * route.get('/v1/threads/:id', {
 *   id: 'getThread',
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
  /** Whether the request has the right of the admin surface, on whatever surface the route is. */
  isAdmin(): boolean;
  /** The path of the route as declared, such as `/v1/threads/:id`. */
  route: string;
  /** The answer may take long by design: from now on the request does not count as a concurrent one. */
  hold(): void;
  /** Called when the client goes away before it has its answer; at once if it has gone already. */
  onGone(listener: () => void): void;
};

/** Without a schema, `params`, `query` and `body` are `undefined`, and any or no body is accepted. */
export type RouteSpec<P, Q, B> = {
  /** Of the operation, and so of the function in a generated client: unique, camelCase, what it does first. */
  id: string;
  summary: string;
  /** What the summary has no room for, in Markdown. */
  description?: string;
  tag?: string;
  scope: Surface;
  /** Request headers that the handler looks at. Only described: a handler reads what it wants of them. */
  headers?: readonly RequestHeaderName[];
  params?: z.ZodType<P>;
  query?: z.ZodType<Q>;
  body?: z.ZodType<B>;
  /**
   * What the handler checks itself, so that `body` only describes it: any JSON, or the body as it came, whatever its
   * type.
   */
  reads?: 'anyJson' | 'text';
  bodyLimit?: 'default' | 'attachments' | 'evals';
  /**
   * By status: the schema of the JSON body, the description of a response that has none, or all about it. What the
   * server itself answers anywhere (`openapi-refusals.ts`) need not be said.
   */
  responses: Record<number, Answer>;
  /** How errors are said here; `{"error": "text"}` unless a protocol has a form of its own. */
  errors?: ErrorDescription;
  /** Missing: nobody has to show anything, or the admin bearer where the scope is `admin`. */
  security?: 'extendedCardBearer';
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
