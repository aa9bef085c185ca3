import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { blobPath, incomingIn } from './engine/blob-folder.ts';
import type { Key } from './engine/keys.ts';
import { PRIVATE } from './engine/private-files.ts';
import { PART_BYTES } from './tables/blob-parts.ts';

/**
 * Writes the contents of files into a new folder, from their parts in any order.
 *
 * Guarantees: no content has its name before all parts were passed.
 */
export type IncomingBlobs = {
  /** Writes a part. `text`: its bytes in base64. @returns the number of its bytes */
  write(key: Key, text: string): number;
  /** Gives the contents their names. */
  end(): void;
};

export const createIncomingBlobs = (blobs: string): IncomingBlobs => {
  const incoming = incomingIn(blobs);
  return {
    write([sha256 = '', index = 0], text) {
      mkdirSync(incoming, { recursive: true, mode: 0o700 });
      const bytes = Buffer.from(text, 'base64');
      const descriptor = openForParts(join(incoming, String(sha256)));
      try {
        for (let at = 0; at < bytes.byteLength; )
          at += writeSync(descriptor, bytes, at, bytes.byteLength - at, Number(index) * PART_BYTES + at);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      return bytes.byteLength;
    },
    end() {
      for (const sha256 of existsSync(incoming) ? readdirSync(incoming) : []) {
        const path = blobPath(blobs, sha256);
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        renameSync(join(incoming, sha256), path);
      }
    },
  };
};

/** Keeps the parts that are there. */
const openForParts = (path: string): number => openSync(path, existsSync(path) ? 'r+' : 'wx', PRIVATE);
