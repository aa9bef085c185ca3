import { isDeepStrictEqual } from 'node:util';
import { createNamespaces } from '../../registry/namespaces/namespaces.ts';
import { isObject, type Json, type JsonObject, REDACTED } from '../../schema/endpoint.ts';
import { holdsSecrets } from '../../schema/redaction/names.ts';
import { type Marked, placeOf, replaceMarked } from '../../schema/redaction/redact.ts';
import { urlHasMarker } from '../../schema/redaction/url.ts';
import type { BundleNamespace, OverriddenNamespace } from './bundle.ts';
import { escapeReferences, referenceTo } from './references.ts';

/**
 * Secrets between a document and a service that never shows them. Exported, an entry has none: they are left out, or
 * a reference to a variable stands in their place. Imported, an entry that leaves a secret out keeps what is stored,
 * which the marker `***` asks for where the service would not keep it by itself.
 */

type Namespace = BundleNamespace | OverriddenNamespace;

type Place = { namespace: Namespace; id: string };

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
  // Of a text or a list nothing can be left out: the marker stays, and stands for what the service has.
  const replace = ({ path, value, isPart }: Marked): Json | undefined =>
    secret(path) ?? (isPart ? value : undefined);
  // Escaped before secrets become references. An object stays one.
  const { has_api_key, has_env, env_keys, has_auth, ...rest } = escapeReferences(shown) as JsonObject;
  const names = Array.isArray(env_keys) ? env_keys.map(String) : [];
  const key = has_api_key === true ? secret(['api_key']) : undefined;
  const token = has_auth === true ? secret(['auth', 'token']) : undefined;
  const env = has_env === true ? environment(names, (name) => secret(['env', name])) : undefined;
  return {
    ...replaceMarked(rest, replace),
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
export const withKeptSecrets = (given: JsonObject, shown: JsonObject): JsonObject =>
  keptIn(given, shown, false);

const keptIn = (given: JsonObject, shown: JsonObject, within: boolean): JsonObject => {
  const fields = Object.entries(shown).flatMap(([key, value]): [string, Json][] => {
    const own = Object.hasOwn(given, key) ? given[key] : undefined;
    if (own === undefined) return isMarked(key, value, within) ? [[key, value]] : [];
    return isJsonObject(own) && isJsonObject(value) ? [[key, keptIn(own, value, holdsSecrets(key))]] : [];
  });
  return { ...given, ...Object.fromEntries(fields) };
};

/** A list that is left out is meant to go, whatever is in it. */
const isMarked = (key: string, value: Json, within: boolean): boolean => {
  if (typeof value !== 'string') return false;
  const place = placeOf(key, value, within);
  return place === 'url' ? urlHasMarker(value) : place === 'secret' && value === REDACTED;
};

/** A service does not tell whether a secret is the one that it has, so whoever brings one changes the entry. */
export const bringsSecrets = (namespace: Namespace, given: JsonObject): boolean =>
  !isDeepStrictEqual(namespaces.of(namespace).redact(given), given);

const namespaces = createNamespaces();

const isJsonObject = (value: Json): value is JsonObject => isObject(value);
