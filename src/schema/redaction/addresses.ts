import { isObject, REDACTED } from '../endpoint.ts';
import { redactArgs } from './args.ts';
import { holdsSecrets, isSecretName, namesUrl } from './names.ts';
import { looksLikeUrl, placeInUrl } from './url.ts';

/**
 * The destinations to which an entry sends its secrets: its URLs, its adapter, and the program that it starts. A secret
 * was provided for these destinations only (a new URL would receive a key that its owner never gave it), so a stored
 * secret is filled in only if they are unchanged.
 *
 * A secret belongs to the destinations next to it and next to every object around it, including those in options and
 * configurations. Secrets themselves are no destinations: a key may be replaced while another one stays.
 */

const PLACES: ReadonlySet<string> = new Set([
  'adapter',
  'authority_host',
  'command',
  'credentials_kind',
  'cwd',
  'host',
  'hostname',
  'location',
  'port',
  'project',
  'proxy',
  'region',
  'resource',
  'target',
  'tenant_id',
  'transport',
]);

/** Members of these objects are destinations, because each adapter reads others: all but what only sets the pace. */
const CONNECTIONS: ReadonlySet<string> = new Set(['adapter_options', 'auth', 'config', 'options']);

const PACE = /^(?:history_length|poll_.*|restart_policy|return_immediately|timeout_(?:ms|secs))$/;

/** Options belong to the object that contains them. */
const isOptions = (key: string): boolean =>
  (key === 'auth' || key === 'config' || key.endsWith('options')) && !holdsSecrets(key) && !isSecret(key);

type Places = Map<string, unknown>;

const placesOf = (
  value: Readonly<Record<string, unknown>>,
  prefix = '',
  { found = new Map(), isConnection = false }: { found?: Places; isConnection?: boolean } = {},
): Places => {
  for (const [key, member] of Object.entries(value)) {
    const place = placeIn(key, member) ?? (isConnection ? optionIn(key, member) : undefined);
    if (place !== undefined) found.set(prefix + key, place);
    else if (isObject(member) && isOptions(key))
      placesOf(member, `${prefix}${key}.`, { found, isConnection: CONNECTIONS.has(key) });
  }
  return found;
};

const optionIn = (key: string, member: unknown): unknown =>
  isSecret(key) || PACE.test(key) || !(isPlain(member) || (Array.isArray(member) && member.every(isPlain)))
    ? undefined
    : String(member) || undefined;

const isPlain = (member: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof member);

/** Undefined for a field that names no destination, such as a secret. */
const placeIn = (key: string, member: unknown): unknown => {
  if (key === 'args' && Array.isArray(member))
    return member.length > 0 ? redactArgs(member.map(String)) : undefined;
  if (key === 'auth_origins') return listIn(member);
  if (key === 'env') return isSet(member) ? member : undefined;
  if (key === 'headers' && isObject(member)) return headerNames(member);
  if (isSecret(key)) return undefined;
  return typeof member === 'string' || typeof member === 'number'
    ? placeOfText(key, String(member)) || undefined
    : undefined;
};

const listIn = (member: unknown): unknown =>
  Array.isArray(member) && member.length > 0 ? member : undefined;

const isSet = (env: unknown): boolean => env === REDACTED || (isObject(env) && Object.keys(env).length > 0);

/** A header can name a destination, such as `Host`; its value may be replaced like any secret. */
const headerNames = (headers: Readonly<Record<string, unknown>>): string[] | undefined => {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return names.length > 0 ? names.sort() : undefined;
};

const isSecret = (key: string): boolean => isSecretName(key) && !PLACES.has(key);

const placeOfText = (key: string, text: string): string | undefined => {
  if (namesUrl(key) || looksLikeUrl(text)) return placeInUrl(text);
  if (!PLACES.has(key)) return undefined;
  return key === 'adapter' ? text.trim().toLowerCase() : text.trim();
};

/** A marker stands for the stored value. */
const isSame = (given: unknown, stored: unknown): boolean => {
  if (given === REDACTED || given === stored) return true;
  if (Array.isArray(given) && Array.isArray(stored)) {
    return given.length === stored.length && given.every((item, index) => isSame(item, stored[index]));
  }
  if (!isObject(given) || !isObject(stored)) return false;
  const keys = Object.keys(given);
  return (
    keys.length === Object.keys(stored).length &&
    keys.every((key) => Object.hasOwn(stored, key) && isSame(given[key], stored[key]))
  );
};

/**
 * Returns the first destination on the path to a secret that has changed, or undefined.
 *
 * @param isPatch whether `given` is a patch: fields that it does not name stay unchanged
 */
export const changedPath = (
  given: unknown,
  stored: unknown,
  { path, isPatch }: { path: readonly string[]; isPatch: boolean },
): string | undefined => {
  let [now, before] = [given, stored];
  const parents: string[] = [];
  for (const key of path) {
    const changed = changedBeside(now, before, isPatch && parents.length === 0);
    if (changed !== undefined) return [...parents, changed].join('.');
    parents.push(key);
    [now, before] = [memberOf(now, key), memberOf(before, key)];
  }
  return undefined;
};

const changedBeside = (given: unknown, stored: unknown, isPatch: boolean): string | undefined => {
  if (!isObject(given) || !isObject(stored)) return undefined;
  const [now, before] = [placesOf(given), placesOf(stored)];
  const names = isPatch ? [...now.keys()] : [...new Set([...now.keys(), ...before.keys()])];
  return names.find((name) => !isSame(now.get(name), before.get(name)));
};

const memberOf = (value: unknown, key: string): unknown => {
  if (Array.isArray(value)) return value[Number(key)];
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
};
