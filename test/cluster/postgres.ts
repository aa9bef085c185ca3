import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execute, pathOf, serverUser, unprivilegedCommand } from './programs.ts';

/**
 * A real PostgreSQL server with a separate data folder, for one test file.
 *
 * Guarantees: its socket is in a new folder, and without `tcp` it has no other address; it ends with the test, also with
 * one that fails, and with the process of the test (`setpriv`). Relies on programs of PostgreSQL, see `programs.ts`.
 * Cost: half a second of CPU time for `initdb`, about 60 ms for each start and 40 ms for each database.
 */
export type Postgres = {
  /** The folder of the socket. */
  folder: string;
  port: number;
  /** The address of a database, directly or through a proxy or pooler on the port of localhost. */
  url(database: string, port?: number): string;
  /** Creates a database with a new name, as a copy of the given one or empty. */
  createDatabase(template?: string): string;
  /** Executes SQL with psql. @returns the rows as lines, with `|` between columns */
  sql(database: string, text: string): string;
  /** Process id of the server. */
  pid(): number;
  /** Process ids of the backends of a database that satisfy the condition of `pg_stat_activity`. */
  backends(database: string, condition?: string): number[];
  /** CPU time of the server with all its processes, in ms. Those that ended within a start are included. */
  cpuMs(): number;
  /** Ends the server as a crash does (`pg_ctl stop -m immediate`): no checkpoint, and clients lose their connections. */
  crash(): Promise<void>;
  /** Ends the server after it has written everything (`pg_ctl stop -m fast`). */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Crash and start (`pg_ctl restart -m immediate`). */
  restart(): Promise<void>;
  /** Copies the data folder, for which the server is stopped. @returns a name for `putBack` */
  saveData(): Promise<string>;
  /** Replaces the data folder with a copy, while the server has crashed, and starts it. */
  putBack(name: string): Promise<void>;
};

export type PostgresOptions = {
  /** A port of localhost in addition to the socket. */
  tcp?: number;
  /** Settings of the server, such as `fsync: 'on'`. */
  settings?: Record<string, string>;
  /** Variables of its process, in addition to those of this one. */
  env?: Record<string, string>;
};

/** The part of a test that a server needs. */
type Scope = { teardown(end: () => Promise<void>): void };

const USER = 'troupe';
const SOCKET_PORT = 5432;
const LOG_CHARS = 40_000;
const READY = 'database system is ready to accept connections';
const TICK_MS = 10;

/** A crash of the server loses nothing without `fsync`; only a crash of the host would. */
const SETTINGS = {
  fsync: 'off',
  shared_buffers: '32MB',
  max_connections: '90',
  max_wal_size: '256MB',
  timezone: 'UTC',
};

let copies = 0;
let databases = 0;

export const startPostgres = async (t: Scope, options: PostgresOptions = {}): Promise<Postgres> => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-pg-'));
  const data = join(folder, 'data');
  const port = options.tcp ?? SOCKET_PORT;
  const server = createServer(data, argumentsOf(data, port, options), options.env);
  t.teardown(async () => {
    await server.end('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  });
  giveTo(serverUser(), folder);
  execute(pathOf('initdb'), ['--no-sync', '-A', 'trust', '-U', USER, '-E', 'UTF8', '--locale=C', '-D', data]);
  await server.begin();

  const sql = (database: string, text: string): string =>
    execute(pathOf('psql'), [
      ...['-h', data, '-p', String(port), '-U', USER, '-d', database],
      ...['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-c', text],
    ]).trim();

  const postgres: Postgres = {
    folder: data,
    port,
    url: (database, tcp) =>
      tcp === undefined
        ? `postgresql://${USER}@localhost/${database}?host=${encodeURIComponent(data)}&port=${port}`
        : `postgresql://${USER}@127.0.0.1:${tcp}/${database}?sslmode=disable`,
    createDatabase(template = 'template0') {
      databases += 1;
      const name = `test_${databases}`;
      sql('postgres', `CREATE DATABASE ${name} TEMPLATE ${template}`);
      return name;
    },
    sql,
    pid: () => server.pid(),
    backends(database, condition = 'true') {
      const where = `datname = '${database}' AND pid <> pg_backend_pid() AND (${condition})`;
      const found = sql('postgres', `SELECT pid FROM pg_stat_activity WHERE ${where}`);
      return found.split('\n').filter(Boolean).map(Number);
    },
    cpuMs: () => familyCpuMs(server.pid()),
    crash: () => server.end('SIGQUIT'),
    stop: () => server.end('SIGINT'),
    start: () => server.begin(),
    restart: () => server.restart('SIGQUIT', () => undefined),
    async saveData() {
      copies += 1;
      const name = join(folder, `copy-${copies}`);
      await server.restart('SIGINT', () => void execute('cp', ['-a', data, name]));
      return name;
    },
    putBack: (name) =>
      server.restart('SIGQUIT', () => {
        rmSync(data, { recursive: true });
        execute('cp', ['-a', name, data]);
      }),
  };
  return postgres;
};

const argumentsOf = (data: string, port: number, { tcp, settings }: PostgresOptions): string[] => {
  const all: Record<string, string> = {
    ...SETTINGS,
    listen_addresses: tcp === undefined ? '' : '127.0.0.1',
    unix_socket_directories: data,
    ...settings,
  };
  const given = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', data, '-p', String(port), ...given];
};

export const giveTo = (user: string | undefined, folder: string): void => {
  if (user === undefined) return;
  const { status, stderr } = spawnSync('chown', [user, folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
};

/** The process of the server, over all its starts. */
const createServer = (data: string, args: readonly string[], env: Record<string, string> = {}) => {
  let child: ChildProcess | undefined;
  let log = '';

  /** With `su` the server is a child of the started process. */
  const pid = (): number => {
    const [first = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    return Number(first);
  };

  const begin = async (): Promise<void> => {
    // The user that starts the server does not have them: libfaketime creates files by them.
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const [command, rest] = unprivilegedCommand('env', [...variables, pathOf('postgres'), ...args]);
    const started = spawn(command, rest, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
    child = started;
    log = '';
    await new Promise<void>((resolve, reject) => {
      started.once('exit', () => reject(new Error(`the server ended: ${log}`)));
      started.once('error', reject);
      started.stderr?.on('data', (text) => {
        log = `${log}${text}`.slice(-LOG_CHARS);
        if (log.includes(READY)) resolve();
      });
    });
  };

  const end = async (signal: Signal): Promise<void> => {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, 'exit');
    resumeStopped(pid());
    process.kill(pid(), signal);
    await ended;
  };

  /** One at a time: nemeses may restart a server that another one restarts. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (act: () => Promise<void>): Promise<void> => {
    const done = last.then(act);
    last = done.catch(() => undefined);
    return done;
  };

  return {
    pid,
    begin: () => inTurn(begin),
    end: (signal: Signal) => inTurn(() => end(signal)),
    restart: (signal: Signal, between: () => void) =>
      inTurn(async () => {
        await end(signal);
        between();
        await begin();
      }),
  };
};

type Signal = 'SIGINT' | 'SIGQUIT';

/** A server waits for all its processes, including those that a test has stopped. */
const resumeStopped = (pid: number): void => {
  for (const child of childrenOf(pid)) {
    try {
      process.kill(child, 'SIGCONT');
    } catch {
      // It has ended since.
    }
  }
};

const childrenOf = (pid: number): number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
};

const familyCpuMs = (pid: number): number =>
  [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuMsOf(each), endedMsOf(pid));

const NS_A_MS = 1e6;

/** From Linux proc(5): the time that the process was on a CPU. */
export const cpuMsOf = (pid: number): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / NS_A_MS;
  } catch {
    return 0;
  }
};

/** User and system time of ended children, in hundredths of a second. */
const endedMsOf = (pid: number): number => {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0] = fields.split(' ').slice(13, 15).map(Number);
  return (user + system) * TICK_MS;
};
