import { isObject, type JsonObject, REDACTED } from '../endpoint.ts';
import { jsonOrUndefined } from '../json-or-undefined.ts';
import { secretTexts, textsIn } from './redact.ts';

/**
 * Collects the secrets of an entry as texts, to remove them from text about it (config.md 4.3): error messages of a
 * service may repeat a key or a header.
 *
 * Guarantees: no text of 4 characters or more that is known as a secret is left, including its escaped forms in JSON
 * and URLs; of two overlapping secrets the longer one is masked first.
 */

const SHORTEST = 4;

export const secretsOf = (spec: JsonObject): string[] => {
  const found = [...secretTexts(spec), ...namesOfHeaders(spec), ...underTokens(spec)];
  // A key may be a JSON document with secrets in it.
  const all = found
    .flatMap((text) => [text, ...textsIn(parsed(text))])
    .flatMap((text) => [text, ...encodedForms(text)]);
  return longestFirst(all.filter((text) => text.length >= SHORTEST && text !== REDACTED));
};

export const longestFirst = (secrets: readonly string[]): string[] =>
  [...new Set(secrets)].sort((one, other) => other.length - one.length);

/** @param secrets longest first */
export const maskSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((masked, secret) => masked.replaceAll(secret, REDACTED), text);

export const parsed = (text: string): unknown => (/^\s*[[{]/.test(text) ? jsonOrUndefined(text) : undefined);

/** Returns the escaped forms in JSON and URLs; a lone surrogate has no form in a URL. */
export const encodedForms = (text: string): string[] => [
  JSON.stringify(text).slice(1, -1),
  encodeURIComponent(Buffer.from(text).toString()),
];

/** A malformed header may have its value in its name. */
const namesOfHeaders = ({ adapter_options: options }: JsonObject): string[] =>
  isObject(options) && isObject(options.headers) ? Object.keys(options.headers) : [];

/** Names such as `my_tokens` usually count things, but may hold tokens in the options of a provider. */
const underTokens = (options: unknown): string[] =>
  isObject(options)
    ? Object.entries(options).flatMap(([key, value]) =>
        /token/i.test(key) ? textsIn(value) : underTokens(value),
      )
    : [];
