import type { Mount, Operation } from './mount.ts';
import type { Method, Route } from './route.ts';
import type { WireRequest } from './wire.ts';

/**
 * Which route answers. The path is decided first (`paths.ts`), then the method by a table of the path: so a known path
 * with another method is 405 with `Allow`, and `/v1/threads/summaries` is never a thread called `summaries`.
 */
export type PathEntry = {
  path: string;
  /** By upper-case method. HEAD is answered by the GET route. */
  endpoints: ReadonlyMap<string, Endpoint>;
  /** For the `Allow` header, sorted. */
  allow: string;
  /** Instead of the table: a protocol that rules the paths below this one. */
  mount?: Mount;
};

export type Endpoint = Route['spec'] & {
  path: string;
  paramNames: readonly string[];
  /** What becomes of the body. */
  reads: 'json' | 'text' | 'nothing';
};

const methods: Record<Method, readonly string[]> = {
  get: ['GET', 'HEAD'],
  post: ['POST'],
  put: ['PUT'],
  patch: ['PATCH'],
  delete: ['DELETE'],
};

export const groupByPath = (routes: readonly Route[]): PathEntry[] => {
  const paths = new Map<string, Map<string, Endpoint>>();
  for (const { method, path, spec } of routes) {
    const endpoints = paths.get(path) ?? new Map<string, Endpoint>();
    const endpoint: Endpoint = {
      ...spec,
      path,
      paramNames: paramNames(path),
      reads: spec.body ? 'json' : 'nothing',
    };
    for (const name of methods[method]) {
      if (endpoints.has(name)) throw new Error(`two routes for ${name} ${path}`);
      endpoints.set(name, endpoint);
    }
    paths.set(path, endpoints);
  }
  return [...paths].map(([path, endpoints]) => ({
    path,
    endpoints,
    allow: [...endpoints.keys()].sort().join(', '),
  }));
};

export const mounted = (mount: Mount): PathEntry => ({
  path: mount.path,
  endpoints: new Map(),
  allow: '',
  mount,
});

/** The operation as the pipeline takes it. */
export const endpointOf = ({ scope }: Mount, { route, text = false, handle }: Operation): Endpoint => ({
  path: route,
  summary: route,
  scope,
  paramNames: [],
  reads: text ? 'text' : 'nothing',
  responses: {},
  handle: (request) => {
    const body = typeof request.body === 'string' ? request.body : '';
    return handle({ ...request, params: undefined, query: undefined, body });
  },
});

export const paramNames = (path: string): string[] =>
  [...path.matchAll(/\/:(\w+)/g)].map(([, name]) => name ?? '');

/** The values of the parameters in the path, by their names. */
export const namedParams = ({ paramNames }: Endpoint, values: readonly string[]): Record<string, string> => {
  const named: Record<string, string> = {};
  for (const [index, name] of paramNames.entries()) named[name] = values[index] ?? '';
  return named;
};

const METHOD_LABELS = new Map(
  ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((name) => [name.toLowerCase(), name]),
);

/** The method, or `OTHER`: text of a request never becomes a label of a metric. */
export const methodLabel = (req: WireRequest): string => METHOD_LABELS.get(req.getMethod()) ?? 'OTHER';
