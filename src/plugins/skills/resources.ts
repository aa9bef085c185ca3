import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { codedError } from '../../tools/coded-error.ts';
import type { Json } from '../../tools/tool.ts';
import { decodeText } from './decode.ts';

/**
 * Files of a skill (agent-loop.md 14.3). Models choose the paths, so a path is checked twice: as text (`..` is resolved
 * without accessing the disk and must stay within the folder in question), and on disk (the real path must be within
 * the root of the skill, so that no symlink leads outside). That real path is opened, and must be a regular file; pipes
 * and devices are never read. Errors contain the path as given, never a path of the host.
 *
 * Relies on: no other process replaces directories of a skill by symlinks between the check and the open.
 */

export const FOLDERS = { reference: 'references', asset: 'assets', script: 'scripts' } as const;

export type ResourceKind = 'reference' | 'asset';

const LIMITS = { reference: 256 * 1024, asset: 512 * 1024 } as const;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.webp': 'image/webp',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
};

/** `path` is the normalized given path, `file` the real path on disk. */
export type Located = { path: string; file: string };

/**
 * Finds a file in one of the given folders of the root.
 *
 * @throws ToolError `invalid_path`, `path_escapes_root`, `unsupported_path`, `io_error`
 */
export const locate = async (root: string, given: string, folders: readonly string[]): Promise<Located> => {
  const path = normalPath(given);
  if (!folders.some((folder) => path.startsWith(`${folder}/`)))
    throw codedError('unsupported_path', `'${given}' is not under ${folders.join('/ or ')}/`);
  return { path, file: await realFile(root, path) };
};

/** @throws ToolError `path_escapes_root`, `io_error` */
export const realFile = async (root: string, path: string): Promise<string> => {
  const file = await realpath(join(root, path)).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (!file.startsWith(root + sep))
    throw codedError('path_escapes_root', `'${path}' leads out of the folder of the skill`);
  return file;
};

/** Reads the first bytes of a regular file, and its size. Errors contain `path`. */
export const readStart = async (
  { path, file }: Located,
  limit: number,
): Promise<{ content: Buffer; bytes: number }> => {
  try {
    // Without O_NONBLOCK, opening a pipe waits for a writer.
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw codedError('io_error', `'${path}' is not a file`);
      return { content: await firstBytes(handle, Math.min(stat.size, limit)), bytes: stat.size };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unreadable(path, error);
  }
};

/** Returns fewer bytes if the file has become shorter. */
const firstBytes = async (handle: FileHandle, count: number): Promise<Buffer> => {
  const buffer = Buffer.alloc(count);
  let length = 0;
  while (length < count) {
    const { bytesRead } = await handle.read(buffer, length, count - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
};

/**
 * The data of a successful `load_skill_resource`; `bytes` is the size of the file, even if the content is truncated.
 */
export const loadResource = async (
  skill: { id: string; root: string },
  given: string,
  kind?: ResourceKind,
): Promise<Json> => {
  const folders = kind ? [FOLDERS[kind]] : [FOLDERS.reference, FOLDERS.asset];
  const located = await locate(skill.root, given, folders);
  const found = located.path.startsWith(`${FOLDERS.asset}/`) ? 'asset' : 'reference';
  const { content, bytes } = await readStart(located, LIMITS[found]);
  const truncated = content.length < bytes;
  const loaded = { loaded: true, skill_id: skill.id, kind: found, path: located.path, bytes, truncated };
  if (found === 'reference') return { ...loaded, content: decodeText(content, { cut: truncated }) };
  const media_type = MEDIA_TYPES[extname(located.path).toLowerCase()] ?? 'application/octet-stream';
  return { ...loaded, media_type, encoding: 'base64', content: content.toString('base64') };
};

/** Removes `.`, `..` and repeated slashes. */
const normalPath = (given: string): string => {
  if (given.trim() === '' || /[\0\\]/.test(given) || given.startsWith('/'))
    throw codedError('invalid_path', `'${given}' is not a relative path with '/' between its parts`);
  const parts: string[] = [];
  for (const part of given.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined)
      throw codedError('path_escapes_root', `'${given}' leads out of the folder of the skill`);
  }
  return parts.join('/');
};

const unreadable = (path: string, error: unknown): Error => {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error))
    return error instanceof Error ? error : new Error(String(error));
  return codedError('io_error', `cannot read '${path}': ${error.code}`);
};
