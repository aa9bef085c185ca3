import { isObject, REDACTED } from '../endpoint.ts';

/**
 * Masks credentials of this service by their form: API keys, session tokens, tickets and JWTs, and the query values
 * `ticket`, `code`, `state` and `signature`, which are credentials for a short time (identity.md 7).
 *
 * Cost: one scan of each text for three marks; texts without them are returned as they are, and so are values without
 * such texts.
 */

/** Every quantifier is bounded, so that a search is linear. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/tp[kst]_[0-9A-Za-z]{20,64}/g, REDACTED],
  [/eyJ[\w-]{8,2048}\.[\w-]{4,8192}\.[\w-]{0,2048}/g, REDACTED],
  [/([?&#](?:ticket|code|state|signature)=)[^&#\s"'`<>\\]{1,8192}/g, `$1${REDACTED}`],
];

const MARKS = /tp[kst]_|eyJ|[?&#](?:ticket|code|state|signature)=/;

export const maskCredentials = (text: string): string =>
  MARKS.test(text) ? SHAPES.reduce((masked, [shape, by]) => masked.replace(shape, by), text) : text;

/** Masks all texts of a JSON value. */
export const maskCredentialsIn = <Value>(value: Value): Value => {
  // The value keeps its form: only texts in it are replaced.
  if (typeof value === 'string') return maskCredentials(value) as Value;
  if (Array.isArray(value)) {
    let changed: unknown[] | undefined;
    for (const [index, item] of value.entries()) {
      const masked = maskCredentialsIn(item);
      if (masked === item) continue;
      changed ??= [...value];
      changed[index] = masked;
    }
    return (changed as Value | undefined) ?? value;
  }
  if (!isObject(value)) return value;
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const member = value[key];
    const masked = maskCredentialsIn(member);
    if (masked === member) continue;
    changed ??= { ...value };
    changed[key] = masked;
  }
  return (changed as Value | undefined) ?? value;
};
