import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Postgres } from './postgres.ts';
import { pathOf, serverUser, unprivilegedCommand } from './programs.ts';

/** A pgbouncer in transaction mode in front of a server, which ends with the test. */
export type Pgbouncer = {
  /** The socket that clients connect to. */
  socket: string;
  url(database: string): string;
  /** Ends it without waiting for transactions, and starts it again. */
  restart(): Promise<void>;
};

/** The part of a test that a pooler needs. */
type Scope = { teardown(end: () => Promise<void>): void };

const PORT = 6432;
const READY = 'process up';

/** @returns the socket of a server or pooler in its folder */
export const socketIn = (folder: string, port: number): string => join(folder, `.s.PGSQL.${port}`);

export const startPgbouncer = async (t: Scope, postgres: Postgres): Promise<Pgbouncer> => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-pgb-'));
  const config = join(folder, 'pgbouncer.ini');
  writeFileSync(config, configurationOf(folder, postgres));
  const user = serverUser();
  if (user !== undefined) spawnSync('chown', ['-R', user, folder]);
  let child: ChildProcess | undefined;

  const begin = async (): Promise<void> => {
    const [command, args] = unprivilegedCommand(pathOf('pgbouncer'), [config]);
    const started = spawn(command, args, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
    child = started;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      started.once('exit', () => reject(new Error(`pgbouncer ended: ${log}`)));
      started.once('error', reject);
      started.stderr?.on('data', (text) => {
        log = `${log}${text}`.slice(-10_000);
        if (log.includes(READY)) resolve();
      });
    });
  };

  const end = async (): Promise<void> => {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, 'exit');
    // SIGTERM is an immediate shutdown.
    ending.kill('SIGTERM');
    await ended;
  };

  /** One at a time, as for the server. */
  let last: Promise<unknown> = Promise.resolve();
  const restart = (): Promise<void> => {
    const done = last.then(end).then(begin);
    last = done.catch(() => undefined);
    return done;
  };

  t.teardown(async () => {
    await last;
    await end();
    rmSync(folder, { recursive: true, force: true });
  });
  await begin();
  return {
    socket: socketIn(folder, PORT),
    url: (database) =>
      `postgresql://troupe@localhost/${database}?host=${encodeURIComponent(folder)}&port=${PORT}`,
    restart,
  };
};

const configurationOf = (folder: string, postgres: Postgres): string => `[databases]
* = host=${postgres.folder} port=${postgres.port} user=troupe

[pgbouncer]
pool_mode = transaction
auth_type = any
listen_addr =
listen_port = ${PORT}
unix_socket_dir = ${folder}
max_client_conn = 200
default_pool_size = 20
server_login_retry = 1
ignore_startup_parameters = extra_float_digits
`;
