import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileReply, type Reply } from './reply.ts';

/**
 * Serves the files of a folder that a bundler wrote. Their names contain a hash of the content, so browsers may cache
 * them permanently. A `.gz` file next to a file is sent to clients that accept gzip.
 *
 * Guarantees: nothing outside the folder is read, because only the listed names of the folder are served.
 * Cost: the memory of the requested files.
 */
export type BuiltFiles = {
  /** Returns undefined for an unknown name. */
  get(name: string, takesGzip: boolean, headers: Readonly<Record<string, string>>): Reply | undefined;
};

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

export const createBuiltFiles = (folder: string): BuiltFiles => {
  const names: ReadonlySet<string> = new Set(readdirSync(folder).filter((name) => extname(name) in TYPES));
  const held = new Map<string, { plain: Uint8Array; gzip: Uint8Array | undefined }>();
  const read = (name: string) => {
    const known = held.get(name);
    if (known) return known;
    const path = join(folder, name);
    const hasGzip = statSync(`${path}.gz`, { throwIfNoEntry: false }) !== undefined;
    const file = { plain: readFileSync(path), gzip: hasGzip ? readFileSync(`${path}.gz`) : undefined };
    held.set(name, file);
    return file;
  };
  return {
    get(name, takesGzip, headers) {
      if (!names.has(name)) return undefined;
      const { plain, gzip } = read(name);
      const type = TYPES[extname(name)] ?? '';
      const kept = { ...headers, 'cache-control': 'public, max-age=31536000, immutable' };
      if (!gzip) return fileReply(plain, type, kept);
      const encoded = { ...kept, vary: 'accept-encoding' };
      return takesGzip
        ? fileReply(gzip, type, { ...encoded, 'content-encoding': 'gzip' })
        : fileReply(plain, type, encoded);
    },
  };
};
