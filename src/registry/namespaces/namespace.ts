import type { ConfigNamespace } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { Invalid } from '../../schema/outcome.ts';
import { fillMarkers, redact } from '../../schema/redaction/redact.ts';

/**
 * What the entries of a namespace are (config.md 2 to 5), as pure functions: who stores, publishes and answers is
 * elsewhere. A write goes through them in this order: the envelope of the body, `prepare`, then (nothing was judged
 * so far, so a conflict is told first) `check`, `usable`, and the references between entries.
 *
 * Guarantees: what `redact` and `audit` return holds no secret; `prepare(redact(spec), spec)` and
 * `prepare(restored(audit(spec), spec), spec)` have the secrets of `spec` again; nobody changes what is given.
 * Problems are thrown as `Invalid` in the words of config.md 3 to 5, without `invalid payload: `, because a restore
 * answers without it: `asPayload` puts it before them.
 */
export type Namespace = {
  readonly name: ConfigNamespace;
  /** in `capabilities.namespaces` */
  readonly listed: boolean;
  /** Others only take overrides. */
  readonly writable: boolean;
  /** JSON Schema of an entry as it is written (config.md 2.6). */
  schema(): JsonObject;
  /** The body as it will be stored, if it is legal. `stored` is the effective spec that it replaces. */
  prepare(body: JsonObject, stored?: JsonObject): JsonObject;
  /** The shape. Returns what is stored. @throws Invalid */
  check(spec: JsonObject): JsonObject;
  /** What a write, but no restore, refuses like a wrong shape: nobody has tried to use it. @throws Invalid */
  complete(spec: JsonObject): void;
  /** What a write, but no restore, refuses without looking at other entries. @throws Invalid */
  usable(spec: JsonObject): void;
  /** The entry in a response. */
  redact(spec: JsonObject): JsonObject;
  /** The entry in `before` and `after` of an audit event. */
  audit(spec: JsonObject): JsonObject;
  /** A payload of an audit event without its markers; what is not known any more is left out. */
  restored(payload: JsonObject, stored?: JsonObject): JsonObject;
  /** The entry with its overrides. @throws Invalid */
  effective(base: JsonObject, overrides?: JsonObject): JsonObject;
  /** Only where there are routes for them. */
  readonly overrides?: OverrideRules;
};

export type OverrideRules = {
  /** The override object after a PATCH; the entry with it is legal. @throws Invalid */
  merge(base: JsonObject, stored: JsonObject, body: unknown): JsonObject;
  /** After the DELETE of one field. @throws Invalid `unknown override field: <f>` */
  without(base: JsonObject, stored: JsonObject, field: string): JsonObject;
};

/** What holds for most namespaces. */
export const PLAIN = {
  listed: true,
  writable: true,
  prepare: (body, stored) => fillMarkers(body, stored, 'keep'),
  complete: () => {},
  usable: () => {},
  redact,
  audit: redact,
  restored: (payload, stored) => fillMarkers(payload, stored, 'drop'),
} satisfies Partial<Namespace>;

/** @throws Invalid when there are overrides */
export const withoutOverrides =
  (name: ConfigNamespace) =>
  (base: JsonObject, overrides: JsonObject = {}): JsonObject => {
    if (Object.keys(overrides).length === 0) return base;
    throw new Invalid(`${name}/${String(base.id)} cannot have overrides`);
  };

/** @throws Invalid with `invalid payload: ` before what the rule says */
export const asPayload = <Result>(rule: () => Result): Result => {
  try {
    return rule();
  } catch (cause) {
    if (cause instanceof Invalid) throw invalidPayload(cause.message, cause);
    throw cause;
  }
};

export const invalidPayload = (detail: string, cause?: unknown): Invalid =>
  new Invalid(`invalid payload: ${detail}`, { cause });
