import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/**
 * Files with the compiled code of source files, from the previous start.
 *
 * Guarantees: code is returned only if this user wrote it, for this source and this Node, and it is undamaged; V8 would
 * execute anything else, or end the process. Each failure to read or write counts as missing code.
 * Relies on: V8 rejects code that was compiled with other flags.
 * Cost: about 1 ms per megabyte read.
 */

export type CodeStore = {
  /** Undefined if there is no valid code. */
  read(source: Source): Buffer | undefined;
  write(source: Source, code: Buffer): void;
};

export type Source = {
  path: string;
  bytes: number;
  /** Time of the last change. */
  mtimeMs: number;
};

const DIGEST_BYTES = 32;

const OTHERS = 0o077;

const NO_STORE: CodeStore = { read: () => undefined, write() {} };

/** @param folder created with its parent if missing; ignored if another user owns it or may read it */
export function createCodeStore(folder: string): CodeStore {
  if (!isPrivate(folder)) return NO_STORE;
  const fileOf = ({ path }: Source): string => join(folder, `${basename(path)}.${variantOf(path)}`);
  let isSwept = false;
  return {
    read: (source) => attempt(() => validCode(readOwn(fileOf(source)), source)),
    write(source, code) {
      if (!isSwept) attempt(() => removeOld(folder));
      isSwept = true;
      attempt(() => {
        const file = fileOf(source);
        // In one step, because another process may be starting.
        const partial = `${file}.${process.pid}`;
        writeFileSync(partial, Buffer.concat([digestOf(source, code), code]), { mode: 0o600, flag: 'wx' });
        renameSync(partial, file);
      });
    },
  };
}

/** The folder for the code of this user, under the same variables as the compile cache of Node; undefined for none. */
export function codeFolder(env: NodeJS.ProcessEnv): string | undefined {
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  const parent = env.NODE_COMPILE_CACHE || tmpdir();
  return join(parent, `troupe-compiled-${process.getuid?.() ?? 'code'}`);
}

/** Code of builds that no longer start would stay for ever; that of others is written again. */
const KEPT_MS = 7 * 24 * 3_600_000;

function removeOld(folder: string): void {
  const oldest = Date.now() - KEPT_MS;
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (statSync(file).mtimeMs < oldest) unlinkSync(file);
  }
}

const attempt = <Value>(act: () => Value): Value | undefined => {
  try {
    return act();
  } catch {
    return undefined;
  }
};

const isPrivate = (folder: string): boolean =>
  attempt(() => {
    // Not `recursive`, which repeats for ever in some file systems that nothing can be written to.
    for (const each of [dirname(folder), folder]) if (!existsSync(each)) mkdirSync(each, { mode: 0o700 });
    const found = lstatSync(folder);
    return found.isDirectory() && isOwn(found) && (found.mode & OTHERS) === 0;
  }) ?? false;

/** Windows has no user ids; its folder for temporary files belongs to the user. */
const isOwn = ({ uid }: { uid: number }): boolean => process.getuid === undefined || uid === process.getuid();

/** @throws Error for a missing file, a symbolic link, and a file of another user */
function readOwn(file: string): Buffer {
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    if (!isOwn(fstatSync(descriptor))) throw new Error(`${file} belongs to another user`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function validCode(contents: Buffer, source: Source): Buffer | undefined {
  const code = contents.subarray(DIGEST_BYTES);
  return digestOf(source, code).equals(contents.subarray(0, DIGEST_BYTES)) ? code : undefined;
}

const digestOf = ({ bytes, mtimeMs }: Source, code: Buffer): Buffer =>
  createHash('sha256').update(`${bytes} ${mtimeMs} `).update(code).digest();

/** Differs between versions and flags of Node, and between installations. */
const variantOf = (path: string): string =>
  createHash('sha256')
    .update(JSON.stringify([process.version, arch(), process.execArgv, dirname(path)]))
    .digest('hex')
    .slice(0, 16);
