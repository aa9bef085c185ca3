import { anything, type Guard, type Guarded, isObject, list, object, text, withDefault } from './guard.ts';
import { Meta } from './meta.ts';
import { invalidate, type Resource } from './queries.ts';
import { send } from './request.ts';

/** Entries of the configuration: whole lists of them, and what is known of each beside it. */

export type Namespace =
  | 'agents'
  | 'models'
  | 'model-pools'
  | 'providers'
  | 'mcp-servers'
  | 'skills'
  | 'tools'
  | 'a2a-servers';

/** The most that the service gives at once. */
const PAGE = 100;

/** Whoever has more entries than this has another problem. */
const MOST_PAGES = 200;

const Page = object({ items: list(anything) });

/** All of a namespace: the service does not say how many there are, so a full page means that there may be more. */
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

/** For who wants their number and names. */
export const NamedRecord = object({ id: text });
export type NamedRecord = Guarded<typeof NamedRecord>;

const MetaEntry = object({ id: text, meta: Meta });

/** What is known of each entry of a namespace, by id. */
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

/** What a list shows is about models, tools and the like: these are in the capabilities too. */
const IN_CAPABILITIES: readonly Namespace[] = [
  'agents',
  'models',
  'providers',
  'mcp-servers',
  'skills',
  'tools',
];

/** After a write: everything that may have changed with it is read again. */
export const changed = (namespace: Namespace): void => {
  invalidate(
    `/v1/config/${namespace}`,
    '/v1/config/diagnostics',
    '/v1/audit-log',
    '/v1/agents',
    ...(IN_CAPABILITIES.includes(namespace) ? ['/v1/capabilities'] : []),
    ...(namespace === 'mcp-servers' ? ['/v1/mcp-servers'] : []),
    ...(namespace === 'a2a-servers' ? ['/v1/a2a-servers', '/v1/capabilities'] : []),
  );
};

/** An entry that something else refers to. */
export type Dependant = { namespace: string; id: string };

export const dependantsIn = (body: unknown): Dependant[] => {
  const used = isObject(body) ? body.used_by : undefined;
  if (!Array.isArray(used)) return [];
  return used.filter(
    (entry): entry is Dependant => typeof entry?.namespace === 'string' && typeof entry?.id === 'string',
  );
};
