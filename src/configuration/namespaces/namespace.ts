import type { ConfigNamespace } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { Invalid } from '../../schema/outcome.ts';
import { type Dropped, fillMarkers, redact } from '../../schema/redaction/redact.ts';

/**
 * The rules of the entries of a namespace (config.md 2 to 5) as pure functions; storage, publication and responses are
 * implemented elsewhere. A write applies them in this order: the envelope of the body, `prepare`, then (nothing was
 * validated so far, so a conflict is reported first) `check`, `usable`, and the references between entries.
 *
 * Guarantees: results of `redact` and `audit` contain no secrets. `prepare(redact(spec), spec)` and
 * `prepare(restored(audit(spec)), spec)` contain the secrets of `spec` again. Arguments are never modified.
 * Problems are thrown as `Invalid` with the messages of config.md 3 to 5, without `invalid payload: `, because a
 * restore responds without it: `asPayload` adds it.
 */
export type Namespace = {
  readonly name: ConfigNamespace;
  /** Whether it is listed in `capabilities.namespaces`. */
  readonly listed: boolean;
  /** Whether entries can be written; otherwise they only accept overrides. */
  readonly writable: boolean;
  /** Returns the JSON Schema of an entry in its written form (config.md 2.6). */
  schema(): JsonObject;
  /**
   * Returns the body in its stored form if it is valid. `stored` is the effective spec that it replaces. With `dropped`,
   * the secrets that the body does not bring and that belong to another destination are removed instead of refused.
   */
  prepare(body: JsonObject, stored?: JsonObject, dropped?: Dropped): JsonObject;
  /** Validates the shape and returns the spec to store. @throws Invalid */
  check(spec: JsonObject): JsonObject;
  /** Checks that a write is complete, with the errors of a wrong shape; not applied to a restore. @throws Invalid */
  complete(spec: JsonObject): void;
  /**
   * Checks a write without other entries; not applied to a restore.
   *
   * @param dropped paths of secrets that were removed: their absence is no problem
   * @throws Invalid
   */
  usable(spec: JsonObject, dropped?: readonly string[]): void;
  /** Returns the entry for a response. */
  redact(spec: JsonObject): JsonObject;
  /** Returns the entry for `before` and `after` of an audit event. */
  audit(spec: JsonObject): JsonObject;
  /**
   * Returns the body for a payload of an audit event, which `prepare` completes: what the payload does not have is
   * cleared, and not kept like in a replacement.
   */
  restored(payload: JsonObject): JsonObject;
  /** Applies overrides to an entry. @throws Invalid */
  effective(base: JsonObject, overrides?: JsonObject): JsonObject;
  /** Present only if there are routes for overrides. */
  readonly overrides?: OverrideRules;
};

export type OverrideRules = {
  /** Returns the override object after a PATCH; the entry is valid with it. @throws Invalid */
  merge(base: JsonObject, stored: JsonObject, body: unknown, dropped?: Dropped): JsonObject;
  /** Returns the override object after the DELETE of one field. @throws Invalid `unknown override field: <f>` */
  without(base: JsonObject, stored: JsonObject, field: string): JsonObject;
};

/** Defaults for most namespaces. */
export const PLAIN = {
  listed: true,
  writable: true,
  prepare: (body, stored, dropped) => fillMarkers(body, stored, { dropped }),
  complete: () => {},
  usable: () => {},
  redact,
  audit: redact,
  restored: (payload) => payload,
} satisfies Partial<Namespace>;

/** @throws Invalid when there are overrides */
export const withoutOverrides =
  (name: ConfigNamespace) =>
  (base: JsonObject, overrides: JsonObject = {}): JsonObject => {
    if (Object.keys(overrides).length === 0) return base;
    throw new Invalid(`${name}/${String(base.id)} cannot have overrides`);
  };

/** @throws Invalid with the message of the rule and the prefix `invalid payload: ` */
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
