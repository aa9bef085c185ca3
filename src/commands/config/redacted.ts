import { isDeepStrictEqual } from 'node:util';
import { createNamespaces } from '../../configuration/namespaces/namespaces.ts';
import { isObject, type Json, type JsonObject, REDACTED } from '../../schema/endpoint.ts';
import { holdsSecrets } from '../../schema/redaction/names.ts';
import { classifyValue, type Marked, replaceMarked } from '../../schema/redaction/redact.ts';
import { urlHasMarker } from '../../schema/redaction/url.ts';
import type { BundleNamespace, OverriddenNamespace } from './bundle.ts';
import { escapeReferences, referenceTo } from './references.ts';

/**
 * Handles secrets between a document and a service that never returns them. An exported entry contains no secrets: they
 * are omitted or replaced by references to variables. An imported entry without a secret keeps the stored one; the
 * marker `***` requests this where the service would not keep it automatically.
 */

type Namespace = BundleNamespace | OverriddenNamespace;

type Place = { namespace: Namespace; id: string };

/** @param leftOut receives the path of each omitted secret; if absent, secrets are replaced by references */
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
  // A secret within a text or a list cannot be omitted, so the marker is kept and stands for the stored value.
  const replace = ({ path, value, isPart }: Marked): Json | undefined =>
    secret(path) ?? (isPart ? value : undefined);
  // Texts are escaped before secrets become references. Escaping an object returns an object.
  const { has_api_key, has_env, env_keys, has_auth, auth, ...rest } = escapeReferences(shown) as JsonObject;
  const names = Array.isArray(env_keys) ? env_keys.map(String) : [];
  const key = has_api_key === true ? secret(['api_key']) : undefined;
  const token = has_auth === true ? secret(['auth', 'token']) : undefined;
  const env = has_env === true ? environment(names, (name) => secret(['env', name])) : undefined;
  return {
    ...replaceMarked(rest, replace),
    ...(auth !== undefined && { auth: oauthClient(auth, secret) }),
    ...(key !== undefined && { api_key: key }),
    ...(token !== undefined && { auth: { type: 'bearer', token } }),
    ...(env !== undefined && { env }),
  };
};

/** The OAuth client of an MCP server. */
const oauthClient = (auth: Json, secret: (path: readonly string[]) => Json | undefined): Json => {
  if (!isJsonObject(auth)) return auth;
  const { has_client_secret, ...shown } = auth;
  const value = has_client_secret === true ? secret(['auth', 'client_secret']) : undefined;
  return { ...shown, ...(value !== undefined && { client_secret: value }) };
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

/** Adds a marker for each secret that the document omits and the service has. */
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

/** Only texts have markers: omitting a list deletes it, even if it contains secrets. */
const isMarked = (key: string, value: Json, within: boolean): boolean => {
  if (typeof value !== 'string') return false;
  const place = classifyValue(key, value, within);
  return place === 'url' ? urlHasMarker(value) : place === 'secret' && value === REDACTED;
};

/**
 * A service does not reveal whether a given secret equals the stored one, so an entry with secrets counts as changed.
 */
export const bringsSecrets = (namespace: Namespace, given: JsonObject): boolean =>
  !isDeepStrictEqual(namespaces.of(namespace).redact(given), given);

const namespaces = createNamespaces();

const isJsonObject = (value: Json): value is JsonObject => isObject(value);
