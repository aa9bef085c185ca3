import { anything, type Guard, isObject, list, object, text, withDefault } from './guard.ts';
import { Meta } from './meta.ts';
import { invalidate, type Resource } from './queries.ts';
import { send } from './request.ts';

/** Entries of the configuration: complete lists, and the metadata of each entry. */

export type Namespace =
  | 'agents'
  | 'models'
  | 'model-pools'
  | 'providers'
  | 'mcp-servers'
  | 'skills'
  | 'tools'
  | 'a2a-servers'
  | 'budgets';

/** Maximum page size of the service. */
const PAGE = 100;

/** Safety limit; no configuration is expected to be larger. */
const MOST_PAGES = 200;

const Page = object({ items: list(anything) });

/** Reads all entries of a namespace. The service reports no total, so a full page means that there may be more. */
const readAll = async (namespace: Namespace, signal: AbortSignal): Promise<unknown[]> => {
  const items: unknown[] = [];
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { offset: page * PAGE, limit: PAGE };
    const got = await send({ path: `/v1/config/${namespace}`, query, signal }, Page);
    items.push(...got.items);
    if (got.items.length < PAGE) return items;
  }
  return items;
};

const OFF = { statuses: [404], setting: 'SERVICE_EXPOSE_CONFIG_ROUTES' } as const;

/** @example useResource(recordsOf('agents', Agent)) */
export const recordsOf = <T>(namespace: Namespace, item: Guard<T>, every?: number): Resource<T[]> => ({
  path: `/v1/config/${namespace}`,
  query: { all: true },
  guard: list(item),
  read: (signal) => readAll(namespace, signal),
  off: OFF,
  every,
});

/** For readers that need only the number and the ids of entries. */
export const NamedRecord = object({ id: text });
export type NamedRecord = ReturnType<typeof NamedRecord>;

/** The ids of all entries of a namespace. */
export const idsOf = (namespace: Namespace): Resource<string[]> => ({
  ...recordsOf(namespace, NamedRecord),
  guard: (value, at) => list(NamedRecord)(value, at).map(({ id }) => id),
});

const MetaEntry = object({ id: text, meta: Meta });

export const metaOf = (namespace: Namespace): Resource<ReadonlyMap<string, Meta>> => ({
  path: `/v1/config/${namespace}/meta`,
  guard: (value, at) => {
    const entries = Array.isArray(value)
      ? list(MetaEntry)(value, at)
      : object({ items: withDefault(list(MetaEntry), []) })(value, at).items;
    return new Map(entries.map(({ id, meta }) => [id, meta]));
  },
  off: OFF,
});

/** Namespaces whose entries also appear in the capabilities. */
const IN_CAPABILITIES: readonly Namespace[] = [
  'agents',
  'models',
  'providers',
  'mcp-servers',
  'skills',
  'tools',
];

export const changed = (namespace: Namespace): void => {
  invalidate(
    `/v1/config/${namespace}`,
    '/v1/config/diagnostics',
    '/v1/audit-log',
    '/v1/agents',
    ...(IN_CAPABILITIES.includes(namespace) ? ['/v1/capabilities'] : []),
    ...(namespace === 'tools' || namespace === 'mcp-servers' ? ['/v1/tools'] : []),
    ...(namespace === 'mcp-servers' ? ['/v1/mcp-servers'] : []),
    ...(namespace === 'a2a-servers' ? ['/v1/a2a-servers', '/v1/capabilities'] : []),
  );
};

export type Dependant = { namespace: string; id: string };

export const dependantsIn = (body: unknown): Dependant[] => {
  const used = isObject(body) ? body.used_by : undefined;
  if (!Array.isArray(used)) return [];
  return used.filter(
    (entry): entry is Dependant => typeof entry?.namespace === 'string' && typeof entry?.id === 'string',
  );
};
