import { REDACTED } from '../endpoint.ts';
import { queues, type Unknown } from './filling.ts';
import { isSecretName } from './names.ts';
import { looksLikeUrl, redactUrl, secretsInUrl, urlHasMarker } from './url.ts';

/**
 * Secrets in the arguments of a command (config.md 4.2): `--token=…`, `--token …`, `TOKEN=…`, `--header "X-Any: …"`,
 * `Authorization: …`, `Bearer …`, and the ones in URLs. The name before a hidden value stays.
 */

/** An argument split into its leading name and its value. */
type Cut = { name: string; value: string; isSecret: boolean };

const NAME = /^-{0,2}[\w.-]{1,200}$/;
const ASSIGNED = /^(?<name>-{0,2}[\w.-]{1,200})=(?<value>[\s\S]*)$/;
const HEADER = /^(?<name>[\w-]{1,200}):(?<blank>\s*)(?<value>[\s\S]+)$/;
const HEADER_FLAG = /^(?:-H|--?headers?)$/i;
const SCHEME = /^(?<scheme>(?:bearer|basic)\s+)\S/i;

/** `--env=TOKEN=…` assigns twice; further assignments are not split. */
const MOST_ASSIGNED = 2;

const cut = (arg: string, before: string | undefined, assigned = 0): Cut => {
  if (before !== undefined && HEADER_FLAG.test(before)) return headerOf(arg) ?? hidden(arg);
  if (before !== undefined && NAME.test(before) && isSecretName(before)) return hidden(arg);
  const { name, value } = (assigned < MOST_ASSIGNED && ASSIGNED.exec(arg)?.groups) || {};
  if (name === undefined || value === undefined) return withoutName(arg);
  const behind = cut(value, name, assigned + 1);
  return { ...behind, name: `${name}=${behind.name}` };
};

const hidden = (value: string): Cut => ({ name: '', value, isSecret: true });

const headerOf = (arg: string): Cut | undefined => {
  const { name, blank = '', value } = HEADER.exec(arg)?.groups ?? {};
  return name === undefined ? undefined : { name: `${name}:${blank}`, value: value ?? '', isSecret: true };
};

/** JSON with the key of a secret is hidden as a whole. */
const withoutName = (arg: string): Cut => {
  const header = HEADER.exec(arg)?.groups?.name;
  if (header !== undefined && isSecretName(header)) return headerOf(arg) ?? hidden(arg);
  const scheme = SCHEME.exec(arg)?.groups?.scheme;
  if (scheme !== undefined) return { name: scheme, value: arg.slice(scheme.length), isSecret: true };
  return { name: '', value: arg, isSecret: TELLING_JSON.test(arg) && keysIn(arg).some(isSecretName) };
};

const TELLING_JSON = /^\s*[[{]/;

const keysIn = (json: string): string[] =>
  Array.from(json.matchAll(/"([^"\\]{1,200})"\s*:/g), ([, key = '']) => key);

const shownOf = ({ name, value, isSecret }: Cut): string => {
  if (isSecret) return `${name}${REDACTED}`;
  return looksLikeUrl(value) ? `${name}${redactUrl(value)}` : `${name}${value}`;
};

export const redactArgs = (args: readonly string[]): string[] =>
  args.map((arg, index) => shownOf(cut(arg, args[index - 1])));

/** Returns the values that `redactArgs` hides. */
export const secretsInArgs = (args: readonly string[]): string[] =>
  args.flatMap((arg, index) => {
    const { value, isSecret } = cut(arg, args[index - 1]);
    if (isSecret) return [value];
    return looksLikeUrl(value) ? secretsInUrl(value) : [];
  });

/** Whether the argument contains a marker, which stands for the stored value. */
export const argHasMarker = (args: readonly string[], index: number): boolean => {
  const arg = args[index] ?? '';
  if (!arg.includes(REDACTED)) return false;
  const { value, isSecret } = cut(arg, args[index - 1]);
  return value === REDACTED ? isSecret || arg === REDACTED : looksLikeUrl(value) && urlHasMarker(value);
};

/**
 * Replaces each argument that contains a marker by the stored one with the same redacted form: the next one, if there
 * are several. A marker without a stored value stays, or its argument is dropped.
 */
export const fillArgs = (args: readonly string[], stored: readonly string[], unknown: Unknown): string[] => {
  const take = queues(
    redactArgs(stored).flatMap((text, index, shown) =>
      text === stored[index] ? [] : [{ key: signOf(shown, index), value: stored[index] ?? '' }],
    ),
  );
  return args.flatMap((arg, index) => {
    if (!argHasMarker(args, index)) return [arg];
    return take(signOf(args, index)) ?? (unknown === 'keep' ? [arg] : []);
  });
};

/** An argument that is hidden as a whole is identified by the one before it. */
const signOf = (shown: readonly string[], index: number): string =>
  shown[index] === REDACTED ? `${shown[index - 1] ?? ''}\n${REDACTED}` : (shown[index] ?? '');
