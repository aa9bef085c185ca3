import type { z } from 'zod';
import type { JsonObject } from '../schema/json.ts';
import type { Principal } from '../schema/principal.ts';
import type { Answer, ErrorDescription, RequestHeaderName } from './described.ts';
import type { Keyed } from './keyed.ts';
import type { Needs } from './needs.ts';

/**
 * A route declares everything about itself in one value, which the router, the decoder and the OpenAPI document read.
 *
 * @example
 * route.get('/v1/threads/:id', {
 *   id: 'getThread',
 *   summary: 'One thread',
 *   needs: 'read',
 *   params: z.object({ id: z.string() }),
 *   responses: { 200: Thread, 404: ErrorBody },
 *   handle: ({ params, scope }) => threads.get(scope, params.id),
 * });
 */

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

export type RouteRequest<P, Q, B> = {
  params: P;
  query: Q;
  body: B;
  /** Whom the request acts for; without scope and rights on routes that need nothing. */
  principal: Principal;
  /** The part of the scope that is the caller's own (`partition.ts`); on routes of the admin surface the scope. */
  scope: string;
  /** Returns the first value of a request header, or `undefined` if it is missing or empty. */
  header(name: string): string | undefined;
  /** The id that the client sent, if it is valid, or a generated one. */
  requestId: string;
  /** Returns the address of the client, behind a trusted proxy the one that it forwards; empty after a disconnect. */
  ip(): string;
  /** Returns whether the header is present, even if empty. */
  names(header: string): boolean;
  /** The path of the route as declared, such as `/v1/threads/:id`. */
  route: string;
  /** Returns the origin under which the client reaches this service, such as `https://agents.example`. */
  origin(): string;
  /** Releases the concurrency slot of a request whose response takes long by design. */
  hold(): void;
  /** Called when the client disconnects before the response has ended; immediately if it already has. */
  onGone(listener: () => void): void;
  /** Set if the client may repeat the request: on routes that are `idempotent`, with an `Idempotency-Key`. */
  keyed: Keyed | undefined;
};

/** Without a schema, `params`, `query` and `body` are `undefined`, and the request may have any body or none. */
export type RouteSpec<P, Q, B> = {
  /** Id of the operation, which names the function in generated clients: unique, in camelCase, starting with a verb. */
  id: string;
  summary: string;
  /** Details in Markdown. */
  description?: string;
  tag?: string;
  /** Right that is checked before the body is read; the handler checks what follows from the body. */
  needs: Needs;
  /** Set if requests without a credential need nothing, where they are accepted. */
  anonymous?: true;
  /** Request headers that the handler reads. They are documented but not validated. */
  headers?: readonly RequestHeaderName[];
  params?: z.ZodType<P>;
  query?: z.ZodType<Q>;
  body?: z.ZodType<B>;
  /**
   * The handler validates the body itself, and `body` only documents it. `anyJson`: the handler receives the parsed
   * JSON; `text`: the text of a body of any content type; `stream`: a `BodyStream`, whose length the handler limits.
   */
  reads?: 'anyJson' | 'text' | 'stream';
  bodyLimit?: 'default' | 'attachments' | 'evals';
  /**
   * By status: the schema of the JSON body, the description of a response without a body, or a whole response object.
   * Responses that every route may have (`openapi-refusals.ts`) are omitted.
   */
  responses: Record<number, Answer>;
  /** The form of errors; `{"error": "text"}` unless a protocol has a different one. */
  errors?: ErrorDescription;
  /** A browser opens the route: a session cookie that has ended counts as none, so that the route can offer sign-in. */
  offersSignIn?: true;
  /**
   * Set if the route creates or submits something, so that it accepts an `Idempotency-Key` (runtime.md 0.8): its handler
   * passes what `keyed` returns to the commit that accepts the request.
   */
  idempotent?: true;
  /** Makes a response that is not stored whole again, from what `keyed` has stored. */
  again?(request: RouteRequest<P, Q, B>, created: JsonObject): unknown;
  /** A credential that only this route accepts, in addition to that of a principal with the needed grant. */
  security?: 'extendedCardBearer';
  /** Returns whether a request has that credential; it is then handled without a principal, as `NOBODY`. */
  hasOwnCredential?(header: (name: string) => string | undefined, query: string): boolean;
  /** Checks the right to the thread or run of an event stream, as `handle` would. @throws NotFound, Forbidden */
  checkReading?(request: { principal: Principal; params: Readonly<Record<string, string>> }): unknown;
  /** Returns (a promise of) a reply, an event stream, or a value: a 200 as JSON, or an empty one if undefined. */
  handle(request: RouteRequest<P, Q, B>): unknown;
};

/** A route with erased types. HEAD of a `get` route responds as GET does, without the body. */
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

export { plainText, type Reply, reply } from './reply.ts';
