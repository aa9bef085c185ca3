import { isObject, type JsonObject, REDACTED } from '../schema/endpoint.ts';

/**
 * The secrets of a provider as texts, to keep them out of what others say about it (config.md 4.3): error messages
 * of a service may repeat a key or a header.
 *
 * Guarantees: no text of 4 characters or more that is known as a secret is left, also not in the form that JSON or a
 * URL gives it; of two that overlap the longer one goes first.
 */

const SHORTEST = 4;

const TELLING = ['api_key', 'bearer', 'private_key', 'token', 'password', 'secret'];

export const secretsOf = ({ api_key, adapter_options }: JsonObject): string[] => {
  const options = isObject(adapter_options) ? adapter_options : {};
  const { headers, ...others } = options;
  const found = [
    ...(typeof api_key === 'string' ? [api_key, ...textsIn(parsed(api_key))] : []),
    ...(isObject(headers) ? [...Object.keys(headers), ...textsIn(headers)] : []),
    ...textsUnderTellingKeys(others),
  ];
  const texts = found.flatMap((text) => [text, ...formsOf(text)]);
  return [...new Set(texts)]
    .filter((text) => text.length >= SHORTEST)
    .sort((one, other) => other.length - one.length);
};

export const maskSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((masked, secret) => masked.replaceAll(secret, REDACTED), text);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** As JSON and URLs write it; half a character has no form in a URL. */
const formsOf = (text: string): string[] => [
  JSON.stringify(text).slice(1, -1),
  encodeURIComponent(Buffer.from(text).toString()),
];

/** Every text in it; keys are none. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

const textsUnderTellingKeys = (options: Record<string, unknown>): string[] =>
  Object.entries(options).flatMap(([key, value]) => {
    const lower = key.toLowerCase();
    if (TELLING.some((part) => lower.includes(part))) return textsIn(value);
    return isObject(value) ? textsUnderTellingKeys(value) : [];
  });
