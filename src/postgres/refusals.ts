import { type ConnectionOptions, databaseName } from './connection-options.ts';
import { ConnectionLost, DatabaseRefused, ServerError } from './errors.ts';

type Explain = (message: string, options: ConnectionOptions) => string;

/** Codes of the server, and of the system and TLS when there is no connection. */
const EXPLANATIONS: readonly { codes: RegExp; explain: Explain }[] = [
  { codes: /^28P01$/, explain: (_, { user }) => `the password of the user '${user}' is wrong` },
  { codes: /^3D000$/, explain: (_, { database }) => `the database '${database}' does not exist` },
  { codes: /^42501$/, explain: (message, { user }) => `the user '${user}' lacks a right: ${message}` },
  { codes: /^25006$/, explain: () => 'it takes no writes: every member needs the primary' },
  { codes: /^(?:ENOTFOUND|EAI_AGAIN)$/, explain: (_, { host }) => `the host '${host}' is unknown` },
  { codes: /^ECONNREFUSED$/, explain: () => 'no server accepts connections there' },
  { codes: /^ENOENT$/, explain: (_, { host }) => `the folder '${host}' has no socket of a server` },
  { codes: /CERT|ISSUER|CRL|^ERR_TLS/, explain: (message) => `its certificate is not accepted: ${message}` },
];

const UNEXPLAINED: readonly { text: RegExp; explanation: string }[] = [
  {
    text: /does not support SSL/,
    explanation: 'it does not support TLS; sslmode=disable connects without encryption',
  },
  { text: /client password must be/, explanation: 'it requires a password, and the URL has none' },
];

/** Returns the error for the operator: one line, without a secret. */
export const refusalBy = (error: unknown, options: ConnectionOptions): DatabaseRefused => {
  if (error instanceof DatabaseRefused) return error;
  const reason = withoutSecret(reasonOf(error, options), options).replace(/\s+/g, ' ');
  return new DatabaseRefused(`cannot use the database ${databaseName(options)}: ${reason}`, {
    cause: error,
    isTemporary: isTemporary(error),
  });
};

/** The server ends, starts or has no free connection; or nothing listens at its address. */
const TEMPORARY =
  /^(?:08|53|57P0[1-5]|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT)/;

const isTemporary = (error: unknown): boolean => {
  const code = codeOf(error);
  if (code !== '') return TEMPORARY.test(code);
  return error instanceof ConnectionLost && !UNEXPLAINED.some(({ text }) => text.test(error.message));
};

const reasonOf = (error: unknown, options: ConnectionOptions): string => {
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  const explained = EXPLANATIONS.find(({ codes }) => codes.test(code));
  if (explained) return explained.explain(message, options);
  return UNEXPLAINED.find(({ text }) => text.test(message))?.explanation ?? (message || code);
};

const codeOf = (error: unknown): string => {
  if (error instanceof ServerError) return error.code;
  const source = error instanceof ConnectionLost ? error.cause : error;
  const code: unknown = source instanceof Error ? Reflect.get(source, 'code') : undefined;
  return typeof code === 'string' ? code : '';
};

const withoutSecret = (text: string, { password }: ConnectionOptions): string =>
  password === undefined ? text : text.replaceAll(password, '…');
