import { isObject, type JsonObject, REDACTED } from '../endpoint.ts';
import { secretTexts, textsIn } from './redact.ts';

/**
 * The secrets of an entry as texts, to keep them out of what others say about it (config.md 4.3): error messages of
 * a service may repeat a key or a header.
 *
 * Guarantees: no text of 4 characters or more that is known as a secret is left, also not in the form that JSON or a
 * URL gives it; of two that overlap the longer one goes first.
 */

const SHORTEST = 4;

export const secretsOf = (spec: JsonObject): string[] => {
  const found = [...secretTexts(spec), ...namesOfHeaders(spec), ...underTokens(spec)];
  // A key may be a document with secrets of its own.
  const all = found
    .flatMap((text) => [text, ...textsIn(parsed(text))])
    .flatMap((text) => [text, ...formsOf(text)]);
  return longestFirst(all.filter((text) => text.length >= SHORTEST && text !== REDACTED));
};

export const longestFirst = (secrets: readonly string[]): string[] =>
  [...new Set(secrets)].sort((one, other) => other.length - one.length);

/** @param secrets the longest first */
export const maskSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((masked, secret) => masked.replaceAll(secret, REDACTED), text);

export const parsed = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** As JSON and URLs write it; half a character has no form in a URL. */
export const formsOf = (text: string): string[] => [
  JSON.stringify(text).slice(1, -1),
  encodeURIComponent(Buffer.from(text).toString()),
];

/** A broken header may have its value in its name. */
const namesOfHeaders = ({ adapter_options: options }: JsonObject): string[] =>
  isObject(options) && isObject(options.headers) ? Object.keys(options.headers) : [];

/** Names such as `my_tokens` count things where they are shown, and may hold them in the options of a provider. */
const underTokens = (options: unknown): string[] =>
  isObject(options)
    ? Object.entries(options).flatMap(([key, value]) =>
        /token/i.test(key) ? textsIn(value) : underTokens(value),
      )
    : [];
