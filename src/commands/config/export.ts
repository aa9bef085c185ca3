import type { JsonObject } from '../../schema/endpoint.ts';
import { type Bundle, type BundleEntry, type BundleNamespace, NAMESPACES, OVERRIDDEN } from './bundle.ts';
import { exported } from './redacted.ts';
import type { RemoteService } from './service.ts';

/**
 * Exports the configuration of a service as a document: complete user-created entries, and the changes of built-in
 * entries. Unchanged built-in entries are omitted, because every service provides its own.
 */

type Told = {
  /** Called for each omitted secret; if absent, secrets are replaced by references. */
  leftOut?: ((place: string) => void) | undefined;
  /** Called with the number of omitted built-in entries of a namespace. */
  builtin?: (namespace: BundleNamespace, count: number) => void;
};

export const exportBundle = async (
  service: RemoteService,
  { leftOut, builtin: brought }: Told = {},
): Promise<Bundle> => {
  const clean = (namespace: Parameters<typeof exported>[0]['namespace'], id: string, shown: JsonObject) =>
    exported({ namespace, id }, shown, leftOut && ((path) => leftOut(`${namespace}/${id} ${path}`)));

  const bundle: Bundle = {};
  for (const namespace of NAMESPACES) {
    const about = await service.describe(namespace);
    const visible = (await service.list(namespace)).filter(({ id }) => !about.get(id)?.hidden);
    const written = visible.filter(({ id }) => !about.get(id)?.builtin);
    if (visible.length > written.length) brought?.(namespace, visible.length - written.length);
    bundle[namespace] = written.map((entry): BundleEntry => {
      // The backend of an agent repeats its other fields.
      const { backend, ...agent } = entry;
      return { ...clean(namespace, entry.id, namespace === 'agents' ? agent : entry), id: entry.id };
    });
  }
  bundle.overrides = {};
  for (const namespace of OVERRIDDEN) {
    const about = [...(await service.describe(namespace))];
    const changed = about.filter(
      ([, { builtin, hidden, overrides }]) => builtin && !hidden && Object.keys(overrides).length > 0,
    );
    bundle.overrides[namespace] = Object.fromEntries(
      changed.map(([id, { overrides }]) => [id, clean(namespace, id, overrides)]),
    );
  }
  return bundle;
};
