import type t from 'tap';
import { asPayload, type Namespace } from '../../../src/configuration/namespaces/namespace.ts';
import { createNamespaces } from '../../../src/configuration/namespaces/namespaces.ts';
import type { ConfigNamespace } from '../../../src/schema/config-record.ts';
import type { JsonObject } from '../../../src/schema/endpoint.ts';

/** The processing of a body before other entries are checked. */

export const namespace = (name: ConfigNamespace): Namespace => createNamespaces().of(name);

export const write = (of: Namespace, body: JsonObject, stored?: JsonObject): JsonObject =>
  asPayload(() => {
    const spec = of.check(of.prepare(body, stored));
    of.usable(spec);
    return spec;
  });

/** The entry that a restore stores, and the paths of the secrets that it drops. */
export const restore = (
  of: Namespace,
  payload: JsonObject,
  stored?: JsonObject,
): { spec: JsonObject; dropped: string[] } => {
  const dropped = new Set<string>();
  const spec = of.check(of.prepare(of.restored(payload), stored, (path) => dropped.add(path)));
  return { spec, dropped: [...dropped] };
};

/** One test per row: the body with these fields is rejected with this message. */
export const refuses = (
  test: typeof t,
  of: Namespace,
  whole: JsonObject,
  table: readonly [fields: JsonObject, problem: string][],
): void => {
  for (const [fields, problem] of table) {
    test.test(`${of.name}: ${JSON.stringify(fields).slice(0, 120)} is rejected`, async (t) => {
      t.throws(() => write(of, { ...whole, ...fields }), { message: `invalid payload: ${problem}` });
    });
  }
};
