import type { ConfigNamespace, ConfigRecord } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import type { Store } from '../../store/index.ts';

/** Returns a live entry with its secrets: not a hidden one, and a restored one only after its publication. */

export const liveEntry = (
  { config }: Pick<Store, 'config'>,
  namespace: ConfigNamespace,
  id: string,
): JsonObject | undefined => {
  const record = config.get(namespace, id);
  return record && liveSpec(record);
};

const liveSpec = (record: ConfigRecord): JsonObject | undefined => {
  const live = record.published === undefined ? record : record.published;
  return live === null || live.hidden ? undefined : live.spec;
};
