import { isDeepStrictEqual } from 'node:util';
import { createNamespaces } from '../../registry/namespaces/namespaces.ts';
import { isSecretKey } from '../../registry/redact.ts';
import { urlHasMarker } from '../../registry/redact-url.ts';
import { isObject, type Json, type JsonObject, REDACTED } from '../../schema/endpoint.ts';
import type { BundleNamespace, OverriddenNamespace } from './bundle.ts';
import { escapeReferences, referenceTo } from './references.ts';

/**
 * Secrets between a document and a service that never shows them. Exported, an entry has none: they are left out, or
 * a reference to a variable stands in their place. Imported, an entry that leaves a secret out keeps what is stored,
 * which the marker `***` asks for where the service would not keep it by itself.
 */

type Namespace = BundleNamespace | OverriddenNamespace;

type Place = { namespace: Namespace; id: string };

/** Whether a service shows the marker instead of a value there. */
const isSecretAt = (namespace: Namespace, path: readonly string[]): boolean =>
  isSecretKey(path.at(-1) ?? '') ||
  (namespace === 'mcp-servers' && path.length === 3 && path[0] === 'config' && path[1] === 'headers');

const isMarkedUrl = (namespace: Namespace, path: readonly string[], value: unknown): value is string =>
  namespace === 'mcp-servers' &&
  path.length === 1 &&
  path[0] === 'url' &&
  typeof value === 'string' &&
  urlHasMarker(value);

/** @param leftOut is told what was left out; without it references take the place of secrets */
export const exported = (
  { namespace, id }: Place,
  shown: JsonObject,
  leftOut?: (path: string) => void,
): JsonObject => {
  const secret = (path: readonly string[]): Json | undefined => {
    if (!leftOut) return referenceTo(namespace, id, ...path);
    leftOut(path.join('.'));
    return undefined;
  };
  const walk = (value: Json, path: readonly string[]): Json | undefined => {
    // An address with several secrets is one.
    const isSecret = value === REDACTED && isSecretAt(namespace, path);
    if (isSecret || isMarkedUrl(namespace, path, value)) return secret(path);
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, String(index)]) ?? null);
    return isJsonObject(value) ? walkObject(value, path) : value;
  };
  const walkObject = (object: JsonObject, path: readonly string[]): JsonObject =>
    Object.fromEntries(
      Object.entries(object).flatMap(([key, value]) => {
        const kept = walk(value, [...path, key]);
        return kept === undefined ? [] : [[key, kept]];
      }),
    );
  // Escaped before secrets become references. An object stays one.
  const { has_api_key, has_env, env_keys, has_auth, ...rest } = escapeReferences(shown) as JsonObject;
  const names = Array.isArray(env_keys) ? env_keys.map(String) : [];
  const key = has_api_key === true ? secret(['api_key']) : undefined;
  const token = has_auth === true ? secret(['auth', 'token']) : undefined;
  const env = has_env === true ? environment(names, (name) => secret(['env', name])) : undefined;
  return {
    ...walkObject(rest, []),
    ...(key !== undefined && { api_key: key }),
    ...(token !== undefined && { auth: { type: 'bearer', token } }),
    ...(env !== undefined && { env }),
  };
};

const environment = (
  names: readonly string[],
  secret: (name: string) => Json | undefined,
): Json | undefined => {
  const values = names.flatMap((name) => {
    const value = secret(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return values.length === 0 ? undefined : Object.fromEntries(values);
};

/** With a marker for each secret that the document leaves out and the service has. */
export const withKeptSecrets = (namespace: Namespace, given: JsonObject, shown: JsonObject): JsonObject =>
  keptIn(namespace, given, shown, []);

const keptIn = (
  namespace: Namespace,
  given: JsonObject,
  shown: JsonObject,
  above: readonly string[],
): JsonObject => {
  const fields = Object.entries(shown).flatMap(([key, value]): [string, Json][] => {
    const path = [...above, key];
    const own = given[key];
    if (own === undefined) {
      const isSecret = value === REDACTED && isSecretAt(namespace, path);
      return isSecret || isMarkedUrl(namespace, path, value) ? [[key, value]] : [];
    }
    return isJsonObject(own) && isJsonObject(value) ? [[key, keptIn(namespace, own, value, path)]] : [];
  });
  return { ...given, ...Object.fromEntries(fields) };
};

/** A service does not tell whether a secret is the one that it has, so whoever brings one changes the entry. */
export const bringsSecrets = (namespace: Namespace, given: JsonObject): boolean =>
  !isDeepStrictEqual(namespaces.of(namespace).redact(given), given);

const namespaces = createNamespaces();

const isJsonObject = (value: Json): value is JsonObject => isObject(value);
