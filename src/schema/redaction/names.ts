/**
 * Names that mark a value as a secret (config.md 4.2). The one list for responses, audit, export, log and error
 * messages: keys of objects, parameters of URLs, flags of commands, fields of log lines.
 */

/** Parts of a name without its separators. */
const PARTS = [
  'apikey',
  'accesskey',
  'privatekey',
  'subscriptionkey',
  'signingkey',
  'encryptionkey',
  'accountkey',
  'authkey',
  'bearer',
  'credential',
  'password',
  'passwd',
  'passphrase',
  'secret',
  'authorization',
  'cookie',
  'connectionstring',
];

/** Whole words of a name. */
const WORDS: ReadonlySet<string> = new Set(['dsn', 'jwt', 'pwd']);

/** Longer texts are not names. */
const LONGEST = 256;

/** `api_key`, `Authorization`, `refreshToken`, `sentryDsn`, but not `max_tokens`, `dedupe_key` or `token_budget`. */
export const isSecretName = (name: string): boolean => {
  if (name.length > LONGEST) return false;
  const compact = compactOf(name);
  return (
    PARTS.some((part) => compact.includes(part)) ||
    compact.endsWith('token') ||
    wordsOf(name).some((word) => WORDS.has(word))
  );
};

/**
 * Whether all values of an object with this name are secrets, whatever their keys: `headers`, `extraHeaders`, `env`.
 */
export const holdsSecrets = (name: string): boolean =>
  name.length <= LONGEST && (name === 'env' || compactOf(name).endsWith('headers'));

/** Short names for secrets in the parameters of URLs. */
const PARAMETERS: ReadonlySet<string> = new Set(['key', 'sig', 'signature', 'auth', 'pass']);

export const isSecretParameter = (name: string): boolean =>
  isSecretName(name) || PARAMETERS.has(name.toLowerCase());

/** Whether a text with this name is a URL, even if it cannot be parsed. */
export const namesUrl = (name: string): boolean => {
  if (name.length > LONGEST) return false;
  const compact = compactOf(name);
  return compact.endsWith('url') || compact.endsWith('uri') || compact.endsWith('endpoint');
};

const compactOf = (name: string): string =>
  isCompact(name) ? name : name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** A fast path for most names, since entries may have many thousands of them. */
const isCompact = (name: string): boolean => /^[a-z0-9]*$/.test(name);

const wordsOf = (name: string): string[] => {
  if (isCompact(name)) return [name];
  return name
    .replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
};
