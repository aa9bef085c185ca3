import { closeSync, openSync, readSync } from 'node:fs';
import { type Batch, createBatch } from '../engine/batch.ts';
import { blobNames, blobPath } from '../engine/blob-folder.ts';
import type { Environment } from '../engine/environment.ts';
import type { Key } from '../engine/keys.ts';

/**
 * The contents of files as rows of a database, in parts (cluster.md 7, openai.md 9.2). Readers of a copy use its folder of
 * blobs, which a load fills from these rows.
 *
 * Guarantees: a row that names a content is shipped with or after all parts of it. Without a sink there are no rows.
 * Cost: a third more bytes, since JSON has no bytes; the table of the copy has the length of each part only.
 */
export type BlobParts = {
  /** Adds all parts of a content to a batch. */
  put(batch: Batch, sha256: string, bytes: Uint8Array): void;
  /** Resolves when the database has the content, which is in the folder. @throws Unavailable */
  ship(sha256: string): Promise<void>;
  /** Removes the parts of a content. @throws Unavailable */
  remove(sha256: string): Promise<void>;
  /** Yields the contents in the folder or in the database. */
  names(): AsyncGenerator<string>;
};

export const BLOB_PARTS = 'blob_parts';

/** Bytes of a part, but for the last one. */
export const PART_BYTES = 2 ** 20;
/** Parts of one commit. */
const PARTS_AT_ONCE = 4;

type Options = { blobs: string; isShipped: boolean; commit(batch: Batch): Promise<void> };

export const createBlobParts = (env: Environment, { blobs, isShipped, commit }: Options): BlobParts => {
  const rows = env.table<number>(BLOB_PARTS);

  const putPart = (batch: Batch, key: Key, bytes: Uint8Array): void => {
    rows.put(batch, key, bytes.byteLength);
    const write = batch.writes.at(-1);
    if (write && 'shipped' in write && write.shipped) write.shipped.text = partText(bytes);
  };

  return {
    put(batch, sha256, bytes) {
      if (!isShipped) return;
      // An empty content has one part.
      for (let at = 0, index = 0; index === 0 || at < bytes.byteLength; at += PART_BYTES, index += 1)
        putPart(batch, [sha256, index], bytes.subarray(at, at + PART_BYTES));
    },
    async ship(sha256) {
      if (!isShipped) return;
      let batch = createBatch('commons');
      for (const { index, bytes } of partsIn(blobs, sha256)) {
        putPart(batch, [sha256, index], bytes);
        if (batch.writes.length < PARTS_AT_ONCE) continue;
        await commit(batch);
        batch = createBatch('commons');
      }
      await commit(batch);
    },
    async remove(sha256) {
      if (!isShipped || rows.firstKey({ prefix: [sha256] }) === undefined) return;
      const batch = createBatch('commons');
      rows.clear(batch, [sha256]);
      await commit(batch);
    },
    async *names() {
      yield* blobNames(blobs);
      let key = rows.firstKey({ prefix: [] });
      while (key) {
        const sha256 = String(key[0]);
        yield sha256;
        key = rows.firstKeyBehind([sha256]);
      }
    },
  };
};

/** Returns the value of a part as a database stores it. */
export const partText = (bytes: Uint8Array): string =>
  JSON.stringify(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'));

/** Yields the parts of a content that is in a folder, from an index on. The bytes of a part are valid until the next. */
export function* partsIn(
  blobs: string,
  sha256: string,
  from = 0,
): Generator<{ index: number; bytes: Uint8Array }> {
  const descriptor = openSync(blobPath(blobs, sha256), 'r');
  try {
    const buffer = Buffer.allocUnsafe(PART_BYTES);
    for (let index = from; ; index += 1) {
      const length = readFull(descriptor, buffer, index * PART_BYTES);
      if (length > 0 || index === 0) yield { index, bytes: buffer.subarray(0, length) };
      if (length < PART_BYTES) return;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** A single read may return less than there is. */
const readFull = (descriptor: number, buffer: Buffer, position: number): number => {
  let length = 0;
  for (let read = -1; read !== 0 && length < buffer.byteLength; length += read)
    read = readSync(descriptor, buffer, length, buffer.byteLength - length, position + length);
  return length;
};
