import { isObject, REDACTED } from '../endpoint.ts';
import { knownSecrets } from './known-secrets.ts';
import { longestFirst, maskSecrets } from './masking.ts';
import { redactUrlsIn } from './url.ts';

/**
 * The words of a peer (a provider, an MCP server, an agent, the receiver of a notification, a tool) as they may be
 * shown, stored and logged. The peer was sent keys and may repeat them.
 *
 * Guarantees: no known secret of this process is left, nor a part of one that has 24 characters or more; words that
 * have the form of a key are masked even if they are unknown here. What `sk-…abcd` shows of a key stays. Masking
 * twice is masking once. Costs one pass for each known secret over at most `LONGEST` characters and the length of the
 * longest secret; what stands behind them is left out.
 */
export const maskForeign = (text: string, own: readonly string[] = []): string => {
  const secrets = own.length === 0 ? knownSecrets() : longestFirst([...own, ...knownSecrets()]);
  const margin = secrets[0]?.length ?? 0;
  if (text.length <= LONGEST + margin) return maskShaped(maskSecrets(text, secrets));
  // A secret that begins within the text ends within the margin, which is left out: it may hold half of another.
  const masked = maskSecrets(text.slice(0, LONGEST + margin), secrets);
  const kept = masked.slice(0, Math.max(0, masked.length - margin));
  return `${maskShaped(kept)}… (${text.length - LONGEST} more characters)`;
};

/** A value with the known secrets of this process masked in each of its texts, which keep their length otherwise. */
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

/** Keys with a form of their own; every quantifier is bounded, so that a search is linear. */
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

/** `Bearer …`, and what follows a word such as `key`, behind the few characters or the word that may stand between. */
const AFTER_SCHEME = /\b(bearer|basic)(\s{1,8})([\w.~+/=-]{8,4096})/gi;
const AFTER_NAME =
  /\b((?:\w{1,32}[-_ ])?(?:key|token|secret|password|credentials?))(["']?\s{0,8}(?:(?:is|was|provided|given|of)\s{1,8})?[:=]?\s{0,8}["'`(<]?)([\w.~+/=-]{16,4096})/gi;

const maskShaped = (text: string): string => {
  let masked = redactUrlsIn(text);
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
 * Letters and digits in turns. The parts of a name such as `claude-sonnet-4-5-20250929` change between them where a
 * part ends, and those of a key within one.
 */
const isRandom = (word: string): boolean => {
  if (!/\d/.test(word) || !/[A-Za-z]/.test(word)) return false;
  const changes = word.match(/(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=\d)[A-Za-z]/g);
  return (changes?.length ?? 0) >= CHANGES;
};
