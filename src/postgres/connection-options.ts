import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { DatabaseRefused } from './errors.ts';

/** How to reach a database. Everything comes from its URL (cluster.md 13). */
export type ConnectionOptions = {
  /** A host name, an address, or the folder of a Unix socket. */
  host: string;
  port: number;
  database: string;
  user: string;
  password: string | undefined;
  tls: TlsOptions | false;
  /** Why the connection is not safe, for the log. */
  warning: string | undefined;
};

export type TlsOptions = {
  rejectUnauthorized: boolean;
  ca: string | undefined;
  cert: string | undefined;
  key: string | undefined;
  checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined;
};

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];

const DEFAULT_PORT = 5432;

/**
 * Reads a URL of a database. Of its parameters, `host`, `port`, `sslmode`, `sslrootcert`, `sslcert` and `sslkey` count.
 *
 * @throws DatabaseRefused with a message that has no part of the URL but host, port and database
 */
export const readDatabaseUrl = (text: string): ConnectionOptions => {
  const url = parse(text);
  const parameter = (name: string): string | undefined => url.searchParams.get(name) || undefined;
  const host =
    parameter('host') ?? (decoded(url.hostname.replace(/^\[(.*)\]$/, '$1'), 'host') || 'localhost');
  const user = decoded(url.username, 'user');
  if (user === '') throw new DatabaseRefused('the URL of the database has no user');
  const mode = readSslMode(parameter('sslmode'), host);
  const rootCertificate = parameter('sslrootcert');
  return {
    host,
    port: readPort(parameter('port') ?? url.port),
    database: decoded(url.pathname.slice(1), 'database') || user,
    user,
    password: url.password === '' ? undefined : decoded(url.password, 'password'),
    tls: tlsOptions(mode, host, {
      rootCertificate,
      certificate: parameter('sslcert'),
      key: parameter('sslkey'),
    }),
    warning: warningOf(mode, host, rootCertificate),
  };
};

/** Returns how the database is named in messages and logs, without a secret. */
export const databaseName = ({ host, port, database }: ConnectionOptions): string =>
  `'${database}' at ${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

const parse = (text: string): URL => {
  if (!/^postgres(?:ql)?:\/\//.test(text)) {
    throw new DatabaseRefused('the URL of the database must begin with postgresql://');
  }
  // The parser requires a host behind a user; libpq does not, since the host may be a parameter.
  const withHost = text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#:]|$)/, '$1localhost');
  if (!URL.canParse(withHost)) throw new DatabaseRefused('the URL of the database cannot be read');
  return new URL(withHost);
};

const decoded = (text: string, part: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DatabaseRefused(`the ${part} in the URL of the database has a '%' that escapes nothing`);
  }
};

const readPort = (text: string): number => {
  if (text === '') return DEFAULT_PORT;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65536) return port;
  throw new DatabaseRefused(`the port of the database must be between 1 and 65535 (got '${text}')`);
};

const isSocket = (host: string): boolean => host.startsWith('/');
const isLocal = (host: string): boolean =>
  isSocket(host) || host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

const readSslMode = (text: string | undefined, host: string): SslMode => {
  if (isSocket(host)) return 'disable';
  if (text === undefined) return isLocal(host) ? 'disable' : 'verify-full';
  const mode = SSL_MODES.find((each) => each === text);
  if (mode) return mode;
  throw new DatabaseRefused(`sslmode must be one of ${SSL_MODES.join(', ')} (got '${text}')`);
};

const warningOf = (mode: SslMode, host: string, rootCertificate: string | undefined): string | undefined => {
  if (isLocal(host)) return undefined;
  if (mode === 'disable') return 'the connection to the database is not encrypted (sslmode=disable)';
  if (mode === 'require' && rootCertificate === undefined) {
    return 'the certificate of the database is not checked (sslmode=require); sslmode=verify-full checks it';
  }
  return undefined;
};

type TlsPaths = {
  rootCertificate: string | undefined;
  certificate: string | undefined;
  key: string | undefined;
};

/** As libpq has it, `require` with a root certificate checks the certificate, but not its name. */
const tlsOptions = (mode: SslMode, host: string, paths: TlsPaths): TlsOptions | false => {
  if (mode === 'disable') return false;
  const isSystem = paths.rootCertificate === 'system';
  return {
    rejectUnauthorized: mode !== 'require' || paths.rootCertificate !== undefined,
    ca: isSystem ? undefined : readPem(paths.rootCertificate, 'sslrootcert'),
    cert: readPem(paths.certificate, 'sslcert'),
    key: readPem(paths.key, 'sslkey'),
    checkServerIdentity: (_, certificate) =>
      mode === 'verify-full' || isSystem ? checkServerIdentity(host, certificate) : undefined,
  };
};

const readPem = (path: string | undefined, parameter: string): string | undefined => {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new DatabaseRefused(`${parameter}: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
};
