import { isObject, type Json, type JsonObject, REDACTED } from '../endpoint.ts';
import { Invalid } from '../outcome.ts';
import { changedPath } from './addresses.ts';
import { argHasMarker, fillArgs, redactArgs, secretsInArgs } from './args.ts';
import type { Unknown } from './filling.ts';
import { holdsSecrets, isSecretName, namesUrl } from './names.ts';
import { fillUrl, looksLikeUrl, redactUrl, secretsInUrl, urlHasMarker } from './url.ts';

/**
 * Hides the secrets of a configuration entry (config.md 4.2), and restores them in an entry that is sent back with
 * `***` in their positions (4.3).
 *
 * Guarantees: no value at the path of a secret is shown; keys stay; hiding is idempotent; a hidden entry that is filled
 * in from the original equals the original. A secret belongs to its path: a member that a client has moved to another
 * index of a list receives the secret at that index.
 * Cost: one pass over the entry.
 */

/** The kind of value at a path: a secret, a text or a list that contains some, nested members, or nothing to hide. */
export type Place = 'secret' | 'url' | 'args' | 'members' | 'open';

/** @param within whether all values of the surrounding object are secrets */
export const classifyValue = (key: string, value: unknown, within: boolean): Place => {
  if (within || isSecretName(key)) return 'secret';
  if (typeof value === 'string') {
    if (holdsSecrets(key)) return 'secret';
    return namesUrl(key) || looksLikeUrl(value) ? 'url' : 'open';
  }
  if (key === 'args' && isTexts(value)) return 'args';
  return typeof value === 'object' && value !== null ? 'members' : 'open';
};

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** `inList`: the key is the index of a list. */
type At = { key: string; above: At | undefined; inList: boolean };

/** Replaces a value; undefined removes it. `stored` is the value at the same path in another entry. */
type Act<Value extends Json> = (value: Value, stored: Json | undefined, at: At) => Json | undefined;

type Acts = { secret: Act<Json>; url: Act<string>; args: Act<string[]> };

type Spot = { stored: Json | undefined; within: boolean; at: At };

const walk = (value: Json, { stored, within, at }: Spot, acts: Acts): Json | undefined => {
  if (isSchemaOfOutput(at)) return value;
  const place = classifyValue(at.key, value, within);
  if (place === 'secret') return acts.secret(value, stored, at);
  if (place === 'url' && typeof value === 'string') return acts.url(value, stored, at);
  if (place === 'args' && isTexts(value)) return acts.args(value, stored, at);
  return walkMembers(value, { stored, within: holdsSecrets(at.key), at }, acts);
};

/** A schema contains property names such as `token`, but not their values. */
const isSchemaOfOutput = ({ key, above }: At): boolean => key === 'output_schema' && above === undefined;

/** Unchanged values are not copied: an entry may have many thousands of members, and few contain a secret. */
const walkMembers = (value: Json, { stored, within, at }: Spot, acts: Acts): Json => {
  if (Array.isArray(value)) {
    let changed = false;
    const items = value.flatMap((item, index): Json[] => {
      const key = String(index);
      const spot = { stored: memberOf(stored, key), within, at: { key, above: at, inList: true } };
      const made = walk(item, spot, acts);
      changed ||= made !== item;
      return made === undefined ? [] : [made];
    });
    return changed ? items : value;
  }
  return isJsonObject(value) ? walkObject(value, { stored, within, at }, acts) : value;
};

const walkObject = (
  value: JsonObject,
  { stored, within, at }: Omit<Spot, 'at'> & { at: At | undefined },
  acts: Acts,
): JsonObject => {
  let changed = false;
  const members = Object.entries(value).flatMap(([key, member]): [string, Json][] => {
    const spot = { stored: memberOf(stored, key), within, at: { key, above: at, inList: false } };
    const made = walk(member, spot, acts);
    changed ||= made !== member;
    return made === undefined ? [] : [[key, made]];
  });
  return changed ? Object.fromEntries(members) : value;
};

const walkSpec = (spec: JsonObject, stored: JsonObject | undefined, acts: Acts): JsonObject =>
  walkObject(spec, { stored, within: false, at: undefined }, acts);

export const redact = (spec: JsonObject): JsonObject =>
  walkSpec(spec, undefined, { secret: () => REDACTED, url: redactUrl, args: redactArgs });

/** Receives the path of each secret that a write does not bring and the stored entry does not lend. */
export type Dropped = (path: string) => void;

type Filling = {
  /** The given object is part of an entry: fields that it does not name keep their stored values. */
  isPatch?: boolean | undefined;
  /** Secrets that would be sent to another destination, or are not stored, are removed and reported here. */
  dropped?: Dropped | undefined;
};

/**
 * Replaces each marker at the path of a secret by the value of `stored` at the same path. All writes use this function,
 * which is the only way in which a stored secret gets into a written entry.
 *
 * @throws Invalid when a secret would be sent to another destination than the one that it was provided for, unless such
 * secrets are dropped
 */
export const fillMarkers = (
  given: JsonObject,
  stored: JsonObject | undefined,
  { isPatch = false, dropped }: Filling = {},
): JsonObject => {
  const unknown: Unknown = dropped ? 'drop' : 'keep';
  const report = (isDropped: boolean, at: At): void => {
    if (isDropped) dropped?.(pathOf(at).join('.'));
  };
  const isMoved = (at: At): boolean => {
    const path = pathOf(at);
    const changed = changedPath(given, stored, { path, isPatch });
    if (changed === undefined || dropped) return changed !== undefined;
    throw new Invalid(
      `field '${path.join('.')}' must be given again: the stored secret belongs to the stored '${changed}' and is not sent elsewhere`,
    );
  };
  const acts: Acts = {
    secret(value, known, at) {
      if (value !== REDACTED) return walkMembers(value, { stored: known, within: true, at }, acts);
      const isLent = known !== undefined && known !== REDACTED && !isMoved(at);
      if (isLent) return known;
      report(true, at);
      return dropped ? undefined : value;
    },
    url(url, known, at) {
      if (!urlHasMarker(url)) return url;
      const before = typeof known === 'string' ? known : '';
      const lent = secretsInUrl(before).length > 0 && isMoved(at) ? undefined : before;
      report(urlHasMarker(fillUrl(url, lent, 'keep')), at);
      return fillUrl(url, lent, unknown);
    },
    args(args, known, at) {
      if (!hasMarkedArg(args)) return args;
      const before = isTexts(known) ? known : [];
      const lent = secretsInArgs(before).length > 0 && isMoved(at) ? [] : before;
      report(hasMarkedArg(fillArgs(args, lent, 'keep')), at);
      return fillArgs(args, lent, unknown);
    },
  };
  return walkSpec(given, stored, acts);
};

const hasMarkedArg = (args: readonly string[]): boolean => args.some((_, index) => argHasMarker(args, index));

/** Returns the path of the first marker that stands for a secret. */
export const findMarker = (spec: JsonObject): readonly string[] | undefined => {
  let found: At | undefined;
  const note = (isMarked: boolean, at: At): undefined => {
    if (isMarked) found ??= at;
  };
  const acts: Acts = {
    secret(value, _, at) {
      if (value === REDACTED) return note(true, at);
      walkMembers(value, { stored: undefined, within: true, at }, acts);
      return undefined;
    },
    url: (url, _, at) => note(urlHasMarker(url), at),
    args: (args, _, at) => note(hasMarkedArg(args), at),
  };
  walkSpec(spec, undefined, acts);
  return found && pathOf(found);
};

const pathOf = ({ key, above }: At): string[] => (above ? [...pathOf(above), key] : [key]);

/** A value with a marker: its path, and whether the marker is only a part of it, or an item of a list. */
export type Marked = { path: readonly string[]; value: string; isPart: boolean };

/** Replaces each value that contains a marker; undefined removes it. */
export const replaceMarked = (
  shown: JsonObject,
  replace: (marked: Marked) => Json | undefined,
): JsonObject => {
  const acts: Acts = {
    secret: (value, _, at) =>
      value === REDACTED
        ? replace({ path: pathOf(at), value, isPart: at.inList })
        : walkMembers(value, { stored: undefined, within: true, at }, acts),
    url: (url, _, at) => (urlHasMarker(url) ? replace({ path: pathOf(at), value: url, isPart: true }) : url),
    args: (args, _, at) =>
      args.map((arg, index) =>
        argHasMarker(args, index)
          ? (replace({ path: [...pathOf(at), String(index)], value: arg, isPart: true }) ?? arg)
          : arg,
      ),
  };
  return walkSpec(shown, undefined, acts);
};

/** Returns every text that `redact` hides. */
export const secretTexts = (spec: JsonObject): string[] => {
  const found: string[] = [];
  const acts: Acts = {
    secret: (value) => keep(textsIn(value)),
    url: (url) => keep(secretsInUrl(url)),
    args: (args) => keep(secretsInArgs(args)),
  };
  const keep = (texts: readonly string[]): undefined => {
    for (const text of texts) found.push(text);
  };
  walkSpec(spec, undefined, acts);
  return found;
};

/** Returns every text in a value, without keys. */
export const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

const isJsonObject = (value: Json | undefined): value is JsonObject => isObject(value);

const memberOf = (value: Json | undefined, key: string): Json | undefined => {
  if (Array.isArray(value)) return value[Number(key)];
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
};
