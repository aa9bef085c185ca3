import { EVENT_STREAM } from './described.ts';
import type { Family } from './family.ts';
import { createDoor, type Door, type Needs } from './needs.ts';
import type { Paths } from './paths.ts';
import type { Method, Route } from './route.ts';
import type { WireRequest } from './wire.ts';

/**
 * Resolves the route of a request. The path is matched first (`paths.ts`), then the method in a table of the path. So a
 * known path with another method is a 405 with `Allow`, and `/v1/threads/summaries` is never a thread called
 * `summaries`.
 */
export type PathEntry = {
  path: string;
  /** Endpoints by upper-case method. The GET route also handles HEAD. */
  endpoints: ReadonlyMap<string, Endpoint>;
  family: Family | undefined;
  lenient?: true | undefined;
};

export type Endpoint = Omit<Route['spec'], 'reads' | 'body'> & {
  path: string;
  /** Schema for decoding; absent if the handler decodes the body. */
  body: Route['spec']['body'] | undefined;
  paramNames: readonly string[];
  /** The right that is checked before the body is read. */
  door: Door;
  /** Whether a response may be an event stream. */
  streams: boolean;
  /** How the body is read. */
  reads: 'json' | 'text' | 'stream' | 'nothing';
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
      door: doorOf(spec),
      streams: mayStream(spec.responses),
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

const mayStream = (responses: Route['spec']['responses']): boolean =>
  Object.values(responses).some(
    (answer) => typeof answer === 'object' && 'content' in answer && EVENT_STREAM in (answer.content ?? {}),
  );

/** A schema that only documents the body does not decode it. */
const readingOf = ({ reads, body }: Route['spec']): Pick<Endpoint, 'reads' | 'body'> => {
  if (reads === 'anyJson') return { reads: 'json', body: undefined };
  return { reads: reads ?? (body ? 'json' : 'nothing'), body };
};

/** Returns the paths of a family, and entries for its own path and all other paths below it. */
export const familyEntries = (family: Family): PathEntry[] => {
  const declared = groupByPath(family.routes, family);
  const isDeclared = declared.some(({ path }) => path === family.path);
  return [
    ...declared,
    ...(isDeclared ? [] : [{ path: family.path, endpoints: new Map(), family }]),
    { path: `${family.path}/*`, endpoints: new Map(), family, lenient: family.lenient },
  ];
};

/** A route that is open to requests without a credential belongs to the surface that accepts them. */
const doorOf = ({ id, needs, anonymous, security }: Route['spec']): Door => {
  if (needs === 'nothing' && (security !== undefined || anonymous))
    throw new Error(`route '${id}' needs nothing, so it must not limit its credentials`);
  const door = createDoor(needs);
  return anonymous ? { ...door, surface: 'agent-invocation' } : door;
};

/** Creates an endpoint that refuses a request once its principal is known, without reading its body. */
export const refusing = (path: string, needs: Needs, handle: () => unknown): Endpoint => ({
  path,
  id: '',
  summary: '',
  needs,
  door: createDoor(needs),
  streams: false,
  paramNames: [],
  body: undefined,
  reads: 'nothing',
  responses: {},
  handle,
});

const KNOWN_METHODS = Object.values(methods).flat();

/** Returns the sorted methods of a path. */
export const allowedOn = (paths: Paths<PathEntry>, path: string): string[] =>
  KNOWN_METHODS.filter((method) => paths.find(path, method)?.entry.endpoints.has(method)).sort();

export const paramNames = (path: string): string[] =>
  [...path.matchAll(/\/:(\w+)/g)].map(([, name]) => name ?? '');

/** Returns the values of the path parameters by name. */
export const namedParams = ({ paramNames }: Endpoint, values: readonly string[]): Record<string, string> => {
  const named: Record<string, string> = {};
  for (const [index, name] of paramNames.entries()) named[name] = values[index] ?? '';
  return named;
};

const METHOD_LABELS = new Map(
  ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((name) => [name.toLowerCase(), name]),
);

/** Returns the method or `OTHER`, because text of a request must not become a metric label. */
export const methodLabel = (req: WireRequest): string => METHOD_LABELS.get(req.getMethod()) ?? 'OTHER';
