import type { ConfigNamespace, ConfigRecord } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { NotFound } from '../../schema/outcome.ts';
import { redact } from '../../schema/redaction/redact.ts';
import type { Store } from '../../store/index.ts';
import type { Namespace } from '../namespaces/namespace.ts';
import type { Namespaces } from '../namespaces/namespaces.ts';
import type { ConfigService, Entries, EntryMeta, Page } from './api.ts';
import { resolveSpec } from './content.ts';

/** Entries and their metadata in the form for clients (config.md 2.4). Every read costs no more than its page. */

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 200;

type Reads = Pick<ConfigService, 'list' | 'get' | 'schema' | 'metas' | 'meta' | 'providerSpec'>;

export const createReads = ({
  store,
  namespaces,
}: {
  store: Pick<Store, 'config'>;
  namespaces: Namespaces;
}): Reads => {
  const recordsOf = (namespace: Namespace, { offset = 0, limit }: Page): ConfigRecord[] =>
    store.config.list(namespace.name, { offset, ...(limit !== undefined && { limit: clamped(limit) }) });

  const recordOf = (name: string, id: string): { namespace: Namespace; record: ConfigRecord } => {
    const namespace = namespaces.of(name);
    const record = store.config.get(namespace.name, id);
    if (!record) throw missing(namespace.name, id);
    return { namespace, record };
  };

  const metasOf = (namespace: Namespace, page: Page) =>
    recordsOf(namespace, page).map((record) => ({ id: record.id, meta: metaOf(namespace, record) }));

  return {
    list(name, page): Entries {
      const namespace = namespaces.of(name);
      const items = recordsOf(namespace, page).map((record) => shown(namespace, record));
      const limit = page.limit === undefined ? Math.max(DEFAULT_LIMIT, items.length) : clamped(page.limit);
      return { namespace: namespace.name, items, offset: page.offset ?? 0, limit };
    },
    get(name, id) {
      const { namespace, record } = recordOf(name, id);
      return shown(namespace, record);
    },
    schema: (name) => namespaces.of(name).schema(),
    metas: (name, page) => metasOf(namespaces.of(name), page),
    meta(name, id) {
      const { namespace, record } = recordOf(name, id);
      return metaOf(namespace, record);
    },
    providerSpec(id) {
      const record = store.config.get('providers', id);
      if (!record) throw missing('providers', id);
      return record.spec;
    },
  };
};

const clamped = (limit: number): number => Math.min(Math.max(limit, 1), MAX_LIMIT);

export const missing = (namespace: ConfigNamespace, id: string): NotFound =>
  new NotFound(`not found: ${namespace}/${id}`);

const shown = (namespace: Namespace, record: ConfigRecord): JsonObject =>
  namespace.redact(resolveSpec(namespace, record));

const metaOf = (namespace: Namespace, record: ConfigRecord): EntryMeta => ({
  source: record.source,
  hidden: record.hidden,
  ...overridesOf(namespace, record),
  created_at: record.created_at,
  updated_at: record.updated_at,
  revision: record.revision,
  version: record.revision,
  actor: record.actor,
});

/** Returns the overrides, and the values of the same fields without them. */
const overridesOf = (
  namespace: Namespace,
  { user_overrides = {}, spec }: ConfigRecord,
): Pick<EntryMeta, 'user_overrides' | 'base'> => {
  const fields = Object.keys(user_overrides);
  if (fields.length === 0) return {};
  const base = Object.entries(namespace.redact(spec)).filter(([field]) => fields.includes(field));
  return { user_overrides: redact(user_overrides), base: Object.fromEntries(base) };
};
