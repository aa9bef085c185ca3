/**
 * Which names tell that what they name is a secret (config.md 4.2). The one list for answers, audit, export, log and
 * texts of errors: keys of objects, parameters of addresses, flags of commands, fields of a line of the log.
 */

/** Anywhere in a name, without its separators. */
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

/** As a word of a name. */
const WORDS: ReadonlySet<string> = new Set(['dsn', 'jwt', 'pwd']);

/** Names are short; a text that is longer is none. */
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

/** Every value of an object that is called so is a secret, whatever its key: `headers`, `extraHeaders`, `env`. */
export const holdsSecrets = (name: string): boolean =>
  name.length <= LONGEST && (name === 'env' || compactOf(name).endsWith('headers'));

/** Parameters of an address have short names for secrets. */
const PARAMETERS: ReadonlySet<string> = new Set(['key', 'sig', 'signature', 'auth', 'pass']);

export const isSecretParameter = (name: string): boolean =>
  isSecretName(name) || PARAMETERS.has(name.toLowerCase());

/** A text of this name is an address, also one that no parser takes. */
export const namesUrl = (name: string): boolean => {
  if (name.length > LONGEST) return false;
  const compact = compactOf(name);
  return compact.endsWith('url') || compact.endsWith('uri') || compact.endsWith('endpoint');
};

const compactOf = (name: string): string =>
  isCompact(name) ? name : name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Most names are, and entries may have many thousands of them. */
const isCompact = (name: string): boolean => /^[a-z0-9]*$/.test(name);

const wordsOf = (name: string): string[] => {
  if (isCompact(name)) return [name];
  return name
    .replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
};
