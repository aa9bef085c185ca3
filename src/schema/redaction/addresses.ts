import { isObject, REDACTED } from '../endpoint.ts';
import { redactArgs } from './args.ts';
import { holdsSecrets, isSecretName, namesUrl } from './names.ts';
import { looksLikeUrl, placeInUrl } from './url.ts';

/**
 * Where an entry sends its secrets: its addresses, its adapter, and the program that it starts. A secret was given for
 * these places and for no other (a new address would get a key that its owner never gave it), so a stored secret is
 * only filled in where they are the same.
 *
 * A secret belongs to the addresses that stand next to it and next to every object around it, in options and configurations
 * too. Secrets themselves are no places: a key may be replaced while another one stays.
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
  'tenant_id',
  'transport',
]);

/** Options of an entry belong to what they stand in. */
const isOptions = (key: string): boolean => key === 'config' || key.endsWith('options');

type Places = Map<string, unknown>;

const placesOf = (
  value: Readonly<Record<string, unknown>>,
  prefix = '',
  found: Places = new Map(),
): Places => {
  for (const [key, member] of Object.entries(value)) {
    const name = prefix + key;
    if (key === 'args' && Array.isArray(member)) {
      if (member.length > 0) found.set(name, redactArgs(member.map(String)));
    } else if (key === 'env') {
      if (member === REDACTED || (isObject(member) && Object.keys(member).length > 0))
        found.set(name, member);
    } else if (isSecretName(key) && !PLACES.has(key)) {
      // A secret, and no place.
    } else if (isObject(member)) {
      if (isOptions(key) && !holdsSecrets(key)) placesOf(member, `${name}.`, found);
    } else if (typeof member === 'string' || typeof member === 'number') {
      const place = placeOfText(key, String(member));
      if (place !== undefined && place !== '') found.set(name, place);
    }
  }
  return found;
};

const placeOfText = (key: string, text: string): string | undefined => {
  if (namesUrl(key) || looksLikeUrl(text)) return placeInUrl(text);
  if (!PLACES.has(key)) return undefined;
  return key === 'adapter' ? text.trim().toLowerCase() : text.trim();
};

/** A marker stands for what is stored. */
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
 * The first place that is not the same on the way to what stands at `path`, or undefined.
 *
 * @param isPatch of an entry: what it does not name stays
 */
export const changedPlace = (
  given: unknown,
  stored: unknown,
  { path, isPatch }: { path: readonly string[]; isPatch: boolean },
): string | undefined => {
  let [now, before] = [given, stored];
  const way: string[] = [];
  for (const key of path) {
    const changed = changedBeside(now, before, isPatch && way.length === 0);
    if (changed !== undefined) return [...way, changed].join('.');
    way.push(key);
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
