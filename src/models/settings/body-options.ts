import { isObject } from '../../schema/endpoint.ts';
import type { Json, JsonObject } from '../../schema/json.ts';

/**
 * Merges the provider options of a request into its body. Options of the wire format are merged first, then those of
 * the adapter and of the provider, so the more specific key wins. Objects are merged field by field; any other value
 * replaces the value in the body.
 */

/** `keys`: wire format, adapter and provider. Undefined if none of them has options. */
export function appliedOptions(
  options: JsonObject | null | undefined,
  keys: readonly (string | undefined)[],
): JsonObject | undefined {
  if (!options) return undefined;
  const found = [...new Set(keys)].flatMap((key) => {
    const fields = key !== undefined && Object.hasOwn(options, key) ? options[key] : undefined;
    return isJsonObject(fields) ? [fields] : [];
  });
  return found.length === 0 ? undefined : found.reduce(merged);
}

export function withOptions(body: JsonObject, options: JsonObject | undefined): JsonObject {
  return options ? merged(body, options) : body;
}

function merged(under: JsonObject, over: JsonObject): JsonObject {
  const names = new Set([...Object.keys(under), ...Object.keys(over)]);
  return Object.fromEntries(Array.from(names, (name) => [name, joined(under[name], over[name])]));
}

function joined(under: Json | undefined, over: Json | undefined): Json {
  if (isJsonObject(under) && isJsonObject(over)) return merged(under, over);
  // Null in the options is an explicit value.
  return over === undefined ? (under ?? null) : over;
}

function isJsonObject(value: Json | undefined): value is JsonObject {
  return isObject(value);
}
