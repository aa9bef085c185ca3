import type { ErrorForm } from './errors.ts';
import type { Needs } from './needs.ts';
import type { Entry } from './origin.ts';
import type { Route, RouteRequest } from './route.ts';

/**
 * A protocol's routes below one path. They share a form of errors and a check that runs first on every request.
 * Everything else is the same as for other routes: preflight, principal, body size, concurrency slots, streams and metrics.
 */
export type Family = {
  /** All paths below it belong to the family, including those of its routes. */
  path: string;
  /** Grant that requests without a matching route need; they are refused after that check. */
  needs: Needs;
  routes: readonly Route[];
  /** Returns the form of all errors, including refusals by the server itself. */
  errors(request: Pick<RouteRequest<unknown, unknown, unknown>, 'header' | 'origin'>): ErrorForm;
  /**
   * Checks a request before its route is resolved; its error is sent once the principal is known. Called once per request,
   * so it must be fast.
   */
  check?(head: FamilyHead): Error | undefined;
  /**
   * Returns the response for a request without a matching route. `allowed` are the methods of the path, possibly none.
   */
  refuse(request: { method: string; path: string; allowed: readonly string[] }): unknown;
  /**
   * Checks the host of a request before anything else, instead of the check of the server. Its error is sent to any
   * caller, and `check` then also checks the origin of the page.
   *
   * @param entry the listener of another member that accepted the request
   */
  checkHost?(host: string | undefined, entry: Entry | undefined): Error | undefined;
  /** Header in which every response states its processing time, in milliseconds. */
  processingHeader?: string;
  /** Ignores superfluous slashes and percent-encoding in literals. */
  lenient?: true;
};

export type RequestHeader = (name: string) => string | undefined;

/** Valid only during the callback of the request, so read all needed values at once. */
export type FamilyHead = {
  /** The query string without its question mark. */
  query: string;
  header: RequestHeader;
};
