import type { ErrorForm } from './errors.ts';
import type { Route, Surface } from './route.ts';

/**
 * Routes below one path that belong to a protocol: they have a form of errors in common, and what every request to
 * them is looked at for first. Everything else is as for other routes: preflight, scope, size of the body, places,
 * streams, metrics.
 */
export type Family = {
  /** Whatever is below it belongs to the family, and so do its routes. */
  path: string;
  /** Of requests for which there is no route. */
  scope: Surface;
  routes: readonly Route[];
  /** The form of everything that is refused, also by the server itself. */
  errors(header: RequestHeader): ErrorForm;
  /**
   * What is wrong with a request before anybody asks which route it is for; said once its scope is known. Called
   * once for each request, so it is to be quick.
   */
  check?(head: FamilyHead): Error | undefined;
  /** The answer where there is no route; `allowed` are the methods that the path has, perhaps none. */
  refuse(request: { method: string; path: string; allowed: readonly string[] }): unknown;
  /** `check` looks at the host; otherwise hosts that the server refuses do not come here. */
  checksHost?: true;
  /** Slashes too many say nothing, and literals may be percent-encoded. */
  lenient?: true;
};

export type RequestHeader = (name: string) => string | undefined;

/** Read what is needed of it at once: it ends with the callback of the request. */
export type FamilyHead = {
  /** Without its question mark. */
  query: string;
  header: RequestHeader;
};
