import { isObject, REDACTED } from '../endpoint.ts';
import { maskCredentials } from './credentials.ts';
import { knownSecrets } from './known-secrets.ts';
import { longestFirst, maskSecrets } from './masking.ts';
import { redactUrlsIn } from './url.ts';

/**
 * Masks text from a peer (a provider, an MCP server, an agent, the receiver of a notification, a tool) before it is
 * shown, stored or logged. The peer has received keys and may repeat them.
 *
 * Guarantees: no known secret of this process is left, nor a part of one with 24 characters or more; words in the form
 * of a key are masked even if they are unknown here. The visible part of `sk-…abcd` stays. Masking is idempotent.
 * Cost: one pass for each known secret over at most `LONGEST` characters plus the length of the longest secret; text
 * after that is cut off.
 */
export const maskForeign = (text: string, own: readonly string[] = []): string => {
  const secrets = own.length === 0 ? knownSecrets() : longestFirst([...own, ...knownSecrets()]);
  const margin = secrets[0]?.length ?? 0;
  if (text.length <= LONGEST + margin) return maskShaped(maskSecrets(text, secrets));
  // A secret that begins within the text ends within the margin, which is cut off: it may contain half of another
  // secret.
  const masked = maskSecrets(text.slice(0, LONGEST + margin), secrets);
  const kept = masked.slice(0, Math.max(0, masked.length - margin));
  return `${maskShaped(kept)}… (${text.length - LONGEST} more characters)`;
};

/** Masks the known secrets of this process in all texts of a value, without shortening the texts. */
export const maskKnown = (value: unknown): unknown => {
  const secrets = knownSecrets();
  const masked = (given: unknown): unknown => {
    if (typeof given === 'string') return maskSecrets(given, secrets);
    if (Array.isArray(given)) return given.map(masked);
    if (!isObject(given)) return given;
    return Object.fromEntries(Object.entries(given).map(([key, member]) => [key, masked(member)]));
  };
  return masked(value);
};

const LONGEST = 16 * 1024;

/** Keys with a recognizable form; every quantifier is bounded, so that a search is linear. */
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,8192}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  /\beyJ[\w-]{8,2048}\.[\w-]{4,4096}(?:\.[\w-]{0,2048})?/g,
  /\b(?:sk|pk|rk)[-_][\w-]{12,512}/g,
  /\bAIza[\w-]{20,128}/g,
  /\bgh[pousr]_\w{16,256}/g,
  /\bgithub_pat_\w{16,256}/g,
  /\bglpat-[\w-]{16,128}/g,
  /\bxox[abeprs]-[\w-]{10,256}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bya29\.[\w-]{16,2048}/g,
  /\b(?:hf|gsk|r8)_\w{16,128}/g,
  /\b(?:xai|nvapi|tvly|pplx)-[\w-]{16,256}/g,
];

/** `Bearer …`, and values after a word such as `key`, with a few characters or one word in between. */
const AFTER_SCHEME = /\b(bearer|basic)(\s{1,8})([\w.~+/=-]{8,4096})/gi;
const AFTER_NAME =
  /\b((?:\w{1,32}[-_ ])?(?:key|token|secret|password|credentials?))(["']?\s{0,8}(?:(?:is|was|provided|given|of)\s{1,8})?[:=]?\s{0,8}["'`(<]?)([\w.~+/=-]{16,4096})/gi;

const maskShaped = (text: string): string => {
  let masked = maskCredentials(redactUrlsIn(text));
  for (const shape of SHAPES) masked = masked.replaceAll(shape, REDACTED);
  masked = masked.replaceAll(AFTER_SCHEME, (whole, scheme, gap, word: string) =>
    isRandom(word) ? `${scheme}${gap}${REDACTED}` : whole,
  );
  return masked.replaceAll(AFTER_NAME, (whole, name, gap, word: string) =>
    isRandom(word) ? `${name}${gap}${REDACTED}` : whole,
  );
};

const CHANGES = 4;

/**
 * Whether the word alternates between letters and digits like a key. In a name such as `claude-sonnet-4-5-20250929` the
 * changes are at separators, in a key they are within a part.
 */
const isRandom = (word: string): boolean => {
  if (!/\d/.test(word) || !/[A-Za-z]/.test(word)) return false;
  const changes = word.match(/(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=\d)[A-Za-z]/g);
  return (changes?.length ?? 0) >= CHANGES;
};
