import type { Family } from './family.ts';
import type { OpenApiInfo } from './openapi.ts';
import { openApiRoute } from './openapi-route.ts';
import { createPaths, type Paths } from './paths.ts';
import type { Route } from './route.ts';
import { familyEntries, groupByPath, methodLabel, type PathEntry } from './router.ts';
import type { Unrouted } from './unrouted.ts';
import type { WireRequest } from './wire.ts';

/** The routes and pages of a server. */
export type Surface = {
  routes: readonly Route[];
  families?: readonly Family[];
  /** Handles paths without a matching route. */
  unrouted?: readonly Unrouted[] | undefined;
};

/** The paths that are served now. They change once, when the rest of the surface has been loaded. */
export type Routing = {
  paths: Paths<PathEntry>;
  /** The first that returns a response handles a request without a matching route; otherwise it is rejected. */
  unrouted: readonly Unrouted[];
};

/** Returns the routing of a whole surface, with the document that describes it. */
export const routingOf = (
  { routes, families = [], unrouted = [] }: Surface,
  openApi: OpenApiInfo,
): Routing => {
  const document = openApiRoute([...routes, ...families.flatMap((family) => family.routes)], openApi);
  return {
    paths: createPaths([...groupByPath([...routes, document]), ...families.flatMap(familyEntries)]),
    unrouted,
  };
};

/** Returns the routing of the routes that are served while the rest is being loaded. */
export const firstRouting = (routes: readonly Route[]): Routing => ({
  paths: createPaths(groupByPath(routes)),
  unrouted: [],
});

export const hasRoute = ({ paths }: Routing, req: WireRequest): boolean =>
  paths.find(req.getUrl(), methodLabel(req)) !== undefined;
