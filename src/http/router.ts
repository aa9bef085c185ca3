import type { Family } from './family.ts';
import type { Paths } from './paths.ts';
import type { Method, Route, Surface } from './route.ts';
import type { WireRequest } from './wire.ts';

/**
 * Which route answers. The path is decided first (`paths.ts`), then the method by a table of the path: so a known path
 * with another method is 405 with `Allow`, and `/v1/threads/summaries` is never a thread called `summaries`.
 */
export type PathEntry = {
  path: string;
  /** By upper-case method. HEAD is answered by the GET route. */
  endpoints: ReadonlyMap<string, Endpoint>;
  family: Family | undefined;
  lenient?: true | undefined;
};

export type Endpoint = Omit<Route['spec'], 'reads' | 'body'> & {
  path: string;
  /** Decodes; missing where the handler does. */
  body: Route['spec']['body'] | undefined;
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

export const groupByPath = (routes: readonly Route[], family?: Family): PathEntry[] => {
  const paths = new Map<string, Map<string, Endpoint>>();
  for (const { method, path, spec } of routes) {
    const endpoints = paths.get(path) ?? new Map<string, Endpoint>();
    const endpoint: Endpoint = {
      ...spec,
      path,
      paramNames: paramNames(path),
      ...readingOf(spec),
    };
    for (const name of methods[method]) {
      if (endpoints.has(name)) throw new Error(`two routes for ${name} ${path}`);
      endpoints.set(name, endpoint);
    }
    paths.set(path, endpoints);
  }
  return [...paths].map(([path, endpoints]) => ({ path, endpoints, family }));
};

/** A body that is only described is not decoded by its schema. */
const readingOf = ({ reads, body }: Route['spec']): Pick<Endpoint, 'reads' | 'body'> => {
  if (reads === 'anyJson') return { reads: 'json', body: undefined };
  return { reads: reads ?? (body ? 'json' : 'nothing'), body };
};

/** The paths of a family, and everything else below its own. */
export const entriesOf = (family: Family): PathEntry[] => [
  ...groupByPath(family.routes, family),
  { path: `${family.path}/*`, endpoints: new Map(), family, lenient: family.lenient },
];

/** What says no to a request: once its scope is known, whatever its body is. */
export const refusing = (path: string, scope: Surface, handle: () => unknown): Endpoint => ({
  path,
  id: '',
  summary: '',
  scope,
  paramNames: [],
  body: undefined,
  reads: 'nothing',
  responses: {},
  handle,
});

const KNOWN_METHODS = Object.values(methods).flat();

/** Of a path, sorted. */
export const allowedOn = (paths: Paths<PathEntry>, path: string): string[] =>
  KNOWN_METHODS.filter((method) => paths.find(path, method)?.entry.endpoints.has(method)).sort();

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
