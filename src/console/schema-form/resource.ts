import { anyObject, type JsonObject } from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';

/** The schema of the entries of a namespace: their writable fields. */
export const schemaOf = (namespace: string): Resource<JsonObject> => ({
  path: `/v1/config/${namespace}/$schema`,
  guard: anyObject,
  off: { statuses: [404], setting: 'SERVICE_EXPOSE_CONFIG_ROUTES' },
});
