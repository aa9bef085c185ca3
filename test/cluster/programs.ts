import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs of PostgreSQL and pgbouncer, and the user that executes them: a server refuses to run as root. */

/** The time for a program that waits for a lock of the database. */
const PATIENCE_MS = 120_000;

/** The rows of a database that members have written to for many minutes. */
const MOST_OUTPUT_BYTES = 2 ** 29;

const DEBIAN = '/usr/lib/postgresql';

const has = (folder: string, program: string): boolean => {
  try {
    accessSync(join(folder, program), constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const debianFolders = (): string[] => {
  try {
    return readdirSync(DEBIAN)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(DEBIAN, version, 'bin'));
  } catch {
    return [];
  }
};

const libraryFolders = (): string[] => {
  try {
    return readdirSync('/usr/lib').map((name) => join('/usr/lib', name));
  } catch {
    return [];
  }
};

const pathFolders = (): string[] => (process.env.PATH ?? '').split(delimiter).filter(Boolean);

/** The folder of the newest server of Debian, otherwise of the first one in PATH. */
const serverFolder = [...debianFolders(), ...pathFolders()].find(
  (folder) => has(folder, 'initdb') && has(folder, 'postgres'),
);

/** `/usr/sbin` has pgbouncer, and is not in the PATH of every user. */
const pgbouncerFolder = [...pathFolders(), '/usr/sbin', '/usr/local/sbin'].find((folder) =>
  has(folder, 'pgbouncer'),
);

/** The reason to skip a test that needs a server, for the option `skip`. */
export const NO_POSTGRES = serverFolder ? false : 'needs PostgreSQL: apt-get install postgresql';

export const NO_PGBOUNCER =
  NO_POSTGRES || (pgbouncerFolder ? false : 'needs pgbouncer: apt-get install pgbouncer');

/** The library that moves the clock of a process. */
export const faketimeLibrary = libraryFolders()
  .map((folder) => join(folder, 'faketime', 'libfaketime.so.1'))
  .find((path) => existsSync(path));

export const NO_FAKETIME =
  NO_POSTGRES || (faketimeLibrary ? false : 'needs faketime: apt-get install faketime');

export const pathOf = (program: 'initdb' | 'postgres' | 'psql' | 'pgbouncer'): string => {
  const folder = program === 'pgbouncer' ? pgbouncerFolder : serverFolder;
  if (folder === undefined) throw new Error(`${program} is not installed`);
  return join(folder, program);
};

/** @returns undefined if the system has no such user */
const idOf = (user: string): string | undefined => {
  const { status, stdout } = spawnSync('id', ['-u', user], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
};

const unprivileged = (): string | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const user = ['postgres', 'nobody'].find((name) => idOf(name) !== undefined);
  if (user === undefined) throw new Error('neither postgres nor nobody is a user of this system');
  return user;
};

let owner: { user: string | undefined } | undefined;

/** The user that executes the programs, if the test is executed by root. */
export const serverUser = (): string | undefined => {
  owner ??= { user: unprivileged() };
  return owner.user;
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The command as the unprivileged user. A server that is started by `setpriv` receives SIGQUIT when the process of the
 * test ends in any way; `su` cannot do that.
 */
export const unprivilegedCommand = (
  program: string,
  args: readonly string[],
): [command: string, args: string[]] => {
  const user = serverUser();
  const hasSetpriv = pathFolders().some((folder) => has(folder, 'setpriv'));
  if (hasSetpriv) {
    const drop = user === undefined ? [] : [`--reuid=${user}`, `--regid=${groupOf(user)}`, '--clear-groups'];
    return ['setpriv', [...drop, '--pdeathsig', 'QUIT', '--', program, ...args]];
  }
  if (user === undefined) return [program, [...args]];
  return ['su', ['-s', '/bin/sh', user, '-c', `exec ${[program, ...args].map(quoted).join(' ')}`]];
};

const groups = new Map<string, string>();

const groupOf = (user: string): string => {
  const known = groups.get(user) ?? spawnSync('id', ['-g', user], { encoding: 'utf8' }).stdout.trim();
  groups.set(user, known);
  return known;
};

/** Executes a program to its end. @throws with its output unless it succeeds */
export const execute = (program: string, args: readonly string[]): string => {
  const [command, rest] = unprivilegedCommand(program, args);
  const ended: SpawnSyncReturns<string> = spawnSync(command, rest, {
    encoding: 'utf8',
    cwd: '/',
    timeout: PATIENCE_MS,
    maxBuffer: MOST_OUTPUT_BYTES,
  });
  if (ended.status === 0) return ended.stdout;
  throw new Error(`${program} ${args.join(' ')}: ${ended.error?.message ?? ended.stderr}`);
};
