import { isObject, type Json, type JsonObject, REDACTED } from '../schema/endpoint.ts';

/**
 * What of a configuration entry nobody gets to see again (config.md 4.2), and how an entry that comes back with
 * `***` in these places gets its secrets again (4.3).
 *
 * Guarantees: no value at a secret place survives; keys stay; hiding twice is hiding once; an entry that was hidden
 * and filled in from itself is the entry again. A secret belongs to its path: a member that a client has moved to
 * another index of a list takes the secret that was there.
 */

/** Whether the value at a path is a secret; its last part is the key, list indexes are parts too. */
export type SecretPlaces = (path: readonly string[]) => boolean;

const PARTS = ['api_key', 'bearer', 'credential', 'private_key', 'password', 'secret'];

export const isSecretKey = (key: string): boolean => {
  const lower = key.toLowerCase();
  const compact = lower.replaceAll(/[^\p{L}\p{N}]/gu, '');
  return (
    PARTS.some((part) => lower.includes(part)) ||
    compact.includes('apikey') ||
    compact.includes('privatekey') ||
    compact.endsWith('token')
  );
};

export const bySecretKey: SecretPlaces = (path) => isSecretKey(path.at(-1) ?? '');

export const redact = (spec: JsonObject, isSecret: SecretPlaces = bySecretKey): JsonObject =>
  hidden(spec, isSecret, []);

const hidden = (spec: JsonObject, isSecret: SecretPlaces, above: readonly string[]): JsonObject =>
  mapMembers(spec, above, (path, value) => (isSecret(path) ? REDACTED : hiddenIn(value, isSecret, path)));

const hiddenIn = (value: Json, isSecret: SecretPlaces, path: readonly string[]): Json => {
  if (Array.isArray(value)) {
    return value.map((item, index) => hiddenIn(item, isSecret, [...path, String(index)]));
  }
  return isJsonObject(value) ? hidden(value, isSecret, path) : value;
};

/** What becomes of a marker for which nothing is stored: it stays, for a check to refuse, or its key goes. */
export type Unknown = 'keep' | 'drop';

/** With each marker at a secret place replaced by what `stored` has at the same path. */
export const fillMarkers = (
  given: JsonObject,
  stored: JsonObject | undefined,
  unknown: Unknown,
  isSecret: SecretPlaces = bySecretKey,
): JsonObject => filled(given, stored, [], { unknown, isSecret });

type Filling = { unknown: Unknown; isSecret: SecretPlaces };

const filled = (
  given: JsonObject,
  stored: Json | undefined,
  above: readonly string[],
  filling: Filling,
): JsonObject =>
  mapMembers(given, above, (path, value, key) => {
    const known = memberOf(stored, key);
    if (value !== REDACTED || !filling.isSecret(path)) return filledIn(value, known, path, filling);
    if (known !== undefined && known !== REDACTED) return known;
    return filling.unknown === 'keep' ? value : undefined;
  });

const filledIn = (value: Json, stored: Json | undefined, path: readonly string[], filling: Filling): Json => {
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      filledIn(item, memberOf(stored, String(index)), [...path, String(index)], filling),
    );
  }
  return isJsonObject(value) ? filled(value, stored, path, filling) : value;
};

/** Where a marker stands at a secret place, the first one. */
export const findMarker = (
  spec: JsonObject,
  isSecret: SecretPlaces = bySecretKey,
): readonly string[] | undefined => {
  let found: readonly string[] | undefined;
  const look = (value: Json, path: readonly string[]): void => {
    if (value === REDACTED && isSecret(path)) found ??= path;
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) look(member, [...path, key]);
    }
  };
  look(spec, []);
  return found;
};

const isJsonObject = (value: Json | undefined): value is JsonObject => isObject(value);

const memberOf = (value: Json | undefined, key: string): Json | undefined => {
  if (Array.isArray(value)) return value[Number(key)];
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
};

/** A member for which the function has nothing is left out. */
const mapMembers = (
  spec: JsonObject,
  above: readonly string[],
  map: (path: readonly string[], value: Json, key: string) => Json | undefined,
): JsonObject =>
  Object.fromEntries(
    Object.entries(spec).flatMap(([key, value]): [string, Json][] => {
      const mapped = map([...above, key], value, key);
      return mapped === undefined ? [] : [[key, mapped]];
    }),
  );
