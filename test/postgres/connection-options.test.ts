import { join } from 'node:path';
import t from 'tap';
import {
  type ConnectionOptions,
  databaseName,
  readDatabaseUrl,
} from '../../src/postgres/connection-options.ts';
import { ConnectionLost, DatabaseRefused, ServerError } from '../../src/postgres/errors.ts';
import { refusalBy } from '../../src/postgres/refusals.ts';
import { CERTIFICATE, KEY, tlsFiles } from '../certificate.ts';

/** The URL of a database: what counts, what is refused, and what is never shown (cluster.md 13). */

const plain = (url: string) => {
  const { tls, ...rest } = readDatabaseUrl(url);
  return { ...rest, tls: tls !== false };
};

t.test('reads host, port, database, user and password', async (t) => {
  const local = { port: 5432, database: 'd', user: 'u', password: undefined, tls: false, warning: undefined };
  t.strictSame(plain('postgresql://u@localhost/d'), { ...local, host: 'localhost' });
  t.strictSame(plain('postgres://u:p%40%2F%25@127.0.0.1:6000/d%20e'), {
    ...local,
    host: '127.0.0.1',
    port: 6000,
    database: 'd e',
    password: 'p@/%',
  });
  t.match(plain('postgresql://u@[::1]:1/d'), { host: '::1', port: 1, tls: false });
  t.match(plain('postgresql://u@localhost'), { database: 'u' });
  t.match(plain('postgresql://u@/d?host=/run/x&port=7'), { host: '/run/x', port: 7, tls: false });
  t.match(plain('postgresql://u@%2Frun%2Fx/d'), { host: '/run/x', tls: false });
  t.match(plain('postgresql://u@localhost/d?host=/run/x&port=7&sslmode=require'), { tls: false });
  t.match(plain('postgresql://u@db/d?channel_binding=prefer&connect_timeout=1'), { host: 'db' });
  t.equal(databaseName(readDatabaseUrl('postgresql://u:secret@[::1]:1/d')), "'d' at [::1]:1");
});

t.test('variables and files of libpq do not count', async (t) => {
  const variables = { PGHOST: 'x', PGPORT: '1', PGUSER: 'x', PGPASSWORD: 'x', PGSSLMODE: 'disable' };
  t.teardown(() => {
    for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name);
  });
  Object.assign(process.env, variables);
  t.match(readDatabaseUrl('postgresql://u@db/d'), {
    host: 'db',
    port: 5432,
    user: 'u',
    password: undefined,
    tls: { rejectUnauthorized: true },
  });
});

t.test('TLS is on and checked unless the host is local or the mode says otherwise', async (t) => {
  const files = tlsFiles(t);
  const root = `sslrootcert=${encodeURIComponent(files.cert_file)}`;
  type Row = [string, { checks: boolean; checksName: boolean } | false, boolean];
  const rows: Row[] = [
    ['db/d', { checks: true, checksName: true }, false],
    ['db/d?sslmode=verify-full', { checks: true, checksName: true }, false],
    ['db/d?sslmode=verify-ca', { checks: true, checksName: false }, false],
    ['db/d?sslmode=require', { checks: false, checksName: false }, true],
    [`db/d?sslmode=require&${root}`, { checks: true, checksName: false }, false],
    ['db/d?sslmode=require&sslrootcert=system', { checks: true, checksName: true }, false],
    ['db/d?sslmode=disable', false, true],
    ['10.0.0.1/d', { checks: true, checksName: true }, false],
    ['localhost/d', false, false],
    ['127.8.0.1/d', false, false],
    ['[::1]/d', false, false],
    ['localhost/d?sslmode=require', { checks: false, checksName: false }, false],
  ];
  for (const [rest, expected, warns] of rows) {
    const { tls, warning } = readDatabaseUrl(`postgresql://u@${rest}`);
    t.equal(warning !== undefined, warns, `${rest} warns`);
    if (!expected || !tls) {
      t.equal(tls, false, rest);
      continue;
    }
    t.equal(tls.rejectUnauthorized, expected.checks, rest);
    const other = tls.checkServerIdentity('db', {
      subject: { CN: 'other' },
      subjectaltname: 'DNS:other',
    } as never);
    t.equal(other !== undefined, expected.checksName, `${rest} checks the name`);
  }
  const key = `sslcert=${encodeURIComponent(files.cert_file)}&sslkey=${encodeURIComponent(files.key_file)}`;
  t.match(readDatabaseUrl(`postgresql://u@db/d?${root}&${key}`), {
    tls: { ca: CERTIFICATE, cert: CERTIFICATE, key: KEY },
  });
});

t.test('rejects what it cannot use, without a secret', async (t) => {
  const rows: [string, RegExp][] = [
    ['mysql://u:secret@db/d', /must begin with postgresql:/],
    ['postgresql://u:secret@db:port/d', /cannot be read/],
    ['postgresql://:secret@db/d', /has no user/],
    ['postgresql:///d', /has no user/],
    ['postgresql://u:sec%ret@db/d', /the password in the URL of the database has a '%'/],
    ['postgresql://u:secret@db/d?port=70000', /between 1 and 65535 \(got '70000'\)/],
    ['postgresql://u:secret@db/d?sslmode=prefer', /must be one of .* \(got 'prefer'\)/],
    ['postgresql://u:secret@db/d?sslrootcert=/no/such/file', /^sslrootcert: ENOENT/],
  ];
  for (const [url, message] of rows) {
    t.throws(() => readDatabaseUrl(url), { name: 'DatabaseRefused', message }, url);
    try {
      readDatabaseUrl(url);
    } catch (error) {
      t.notMatch(String(error), /secret|sec%ret/);
    }
  }
  t.throws(() => readDatabaseUrl(`postgresql://u@${join('db', 'd')}?sslkey=/`), { message: /^sslkey: / });
});

t.test('explains in one line why a database cannot be used', async (t) => {
  const options: ConnectionOptions = readDatabaseUrl('postgresql://u:secret@db/d');
  const server = (code: string) => new ServerError(`message\nof the server with secret`, { code });
  const lost = (code: string, message = '') =>
    new ConnectionLost(message, { wasSent: false, cause: Object.assign(new Error(message), { code }) });
  const rows: [unknown, string][] = [
    [server('28P01'), "the password of the user 'u' is wrong"],
    [server('3D000'), "the database 'd' does not exist"],
    [server('42501'), "the user 'u' lacks a right: message of the server with …"],
    [server('25006'), 'it takes no writes: every member needs the primary'],
    [server('XX000'), 'message of the server with …'],
    [lost('ENOTFOUND'), "the host 'db' is unknown"],
    [lost('ECONNREFUSED'), 'no server accepts connections there'],
    [lost('ENOENT'), "the folder 'db' has no socket of a server"],
    [lost('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed'), 'its certificate is not accepted: self-signed'],
    [lost('EHOSTDOWN'), 'EHOSTDOWN'],
    [
      lost('', 'The server does not support SSL connections'),
      'it does not support TLS; sslmode=disable connects without encryption',
    ],
    [
      lost('', 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string'),
      'it requires a password, and the URL has none',
    ],
    ['text', 'text'],
  ];
  for (const [error, reason] of rows) {
    t.equal(refusalBy(error, options).message, `cannot use the database 'd' at db:5432: ${reason}`);
  }
  const known = new DatabaseRefused('known');
  t.equal(refusalBy(known, options), known);
});
