import type { ErrorForm } from './errors.ts';
import type { Method, Route, RouteRequest, RouteSpec, Surface } from './route.ts';

/**
 * A part of the paths that a protocol rules by itself: which path and method is which operation, and how errors
 * look. Everything else is as for a route: preflight, scope, size of the body, places, streams, metrics.
 *
 * Relies on `find` to be quick and not to throw: it is called once for each request, before its scope is known; what
 * it finds wrong is an operation that refuses.
 */
export type Mount = {
  /** One path, or everything below one: `/v1/things/*`. */
  path: string;
  scope: Surface;
  find(head: MountHead): Operation;
  /** The form of everything that is refused, also by the server itself. */
  errors(header: RequestHeader): ErrorForm;
  /** `find` looks at the host of a request; otherwise those that the server refuses do not come here. */
  checksHost?: boolean;
  /** What the OpenAPI document says of it. */
  described: readonly Described[];
};

export type RequestHeader = (name: string) => string | undefined;

/** What an operation is chosen by. Read what is needed of it at once: it ends with the callback of the route. */
export type MountHead = {
  method: string;
  /** As it was sent, without the query. */
  path: string;
  query: string;
  header: RequestHeader;
  /** Whether there is such a header, also an empty one. */
  names(header: string): boolean;
};

export type Operation = {
  /** The path of the operation with the names of its parameters: its label in the metrics. */
  route: string;
  /** The body is read and handed over as text, whatever its type. */
  text?: boolean;
  handle(request: RouteRequest<undefined, undefined, string>): unknown;
};

/** An operation as it would be if it were a route. */
export type Described = Pick<Route, 'method' | 'path'> & { spec: Omit<Route['spec'], 'handle'> };

export const describe = (
  method: Method,
  path: string,
  spec: Omit<RouteSpec<unknown, unknown, unknown>, 'handle'>,
): Described => ({ method, path, spec });
