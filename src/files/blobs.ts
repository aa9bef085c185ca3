import { createHash, type Hash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Unavailable } from '../schema/outcome.ts';
import { areBlobsHeld, blobPath, incomingIn, nameBlob, type StoredBlobs } from '../store/index.ts';

/**
 * The bytes of files on the disk, once for each content (openai.md 9.2). Other modules do not know where the
 * bytes are. In a cluster the database has them too, and the disk is that of a copy.
 *
 * Guarantees: a blob has its name only once all of its bytes are on the disk. Writing a content that exists replaces the
 * blob with an equal one, so a damaged blob is repaired and its time is that of the last write. Memory: one chunk for
 * each blob that is written or read.
 */
export type Blobs = {
  /** Begins a blob. @throws Unavailable when the folder cannot be written */
  open(): Promise<BlobWriter>;
  /** Whether the blob exists. */
  has(sha256: string): boolean;
  /** Returns all bytes; undefined without the blob. */
  read(sha256: string): Promise<Buffer | undefined>;
  /** Yields the bytes from `from` up to `to`, both inclusive. The blob is opened with the first chunk. */
  chunks(sha256: string, from: number, to: number): Generator<Uint8Array, void>;
  /** Removes the blob unless it was written within this time. Returns false while removal is held. */
  remove(sha256: string, writtenBefore: number): boolean;
  names(): AsyncGenerator<string>;
  /** Creates the folder, and removes the unfinished blobs of an earlier process. */
  prepare(): void;
};

export type WrittenBlob = { sha256: string; bytes: number };

export type BlobWriter = {
  /** The chunk must not change until the promise resolves. */
  write(chunk: Uint8Array): Promise<void>;
  /** Resolves when the blob is on the disk under its name, and in the database if there is one. `naming` is called before it gets the name. */
  finish(naming: (sha256: string) => void): Promise<WrittenBlob>;
  /** Removes what was written. Idempotent, and without effect after `finish`. */
  abort(): Promise<void>;
};

/** Bytes that are flushed to the disk while further ones arrive, so that few are left at the end. */
const FLUSH_BYTES = 8 * 1024 * 1024;

/** Bytes that are read from the disk at once. */
const CHUNK_BYTES = 128 * 1024;

export const createBlobs = (stored: StoredBlobs, uuid: () => string): Blobs => {
  const blobs = stored.folder;
  const incoming = incomingIn(blobs);
  return {
    async open() {
      const path = join(incoming, uuid());
      try {
        mkdirSync(incoming, { recursive: true, mode: 0o700 });
        return writerTo(await open(path, 'wx', 0o600), { path, stored });
      } catch (cause) {
        throw cannotWrite(cause);
      }
    },
    has: (sha256) => existsSync(blobPath(blobs, sha256)),
    async read(sha256) {
      try {
        return await readFile(blobPath(blobs, sha256));
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    *chunks(sha256, from, to) {
      const descriptor = openSync(blobPath(blobs, sha256), 'r');
      try {
        for (let at = from; at <= to; ) {
          const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, to - at + 1));
          const read = readSync(descriptor, chunk, 0, chunk.byteLength, at);
          if (read === 0) throw new Error(`blob ${sha256} ends at ${at}, before ${to}`);
          yield chunk.subarray(0, read);
          at += read;
        }
      } finally {
        closeSync(descriptor);
      }
    },
    remove(sha256, writtenBefore) {
      if (areBlobsHeld(blobs)) return false;
      const path = blobPath(blobs, sha256);
      const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (written !== undefined && written > writtenBefore) return true;
      if (written !== undefined) unlinkSync(path);
      // A later sweep removes the rows of the database.
      stored.remove(sha256).catch(() => {});
      return true;
    },
    names: () => stored.names(),
    prepare() {
      mkdirSync(blobs, { recursive: true, mode: 0o700 });
      rmSync(incoming, { recursive: true, force: true });
    },
  };
};

type Target = { path: string; stored: StoredBlobs };

const writerTo = (file: FileHandle, { path, stored }: Target): BlobWriter => {
  const hash: Hash = createHash('sha256');
  let bytes = 0;
  let isOpen = true;
  const flusher = flushEarly(file);
  const abort = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await flusher.ended().catch(() => {});
    await file.close();
    await rm(path, { force: true });
  };
  return {
    async write(chunk) {
      try {
        const written = writeAll(file, chunk);
        // Another thread writes while this one hashes.
        hash.update(chunk);
        bytes += chunk.byteLength;
        await written;
        flusher.written(bytes);
      } catch (cause) {
        await abort();
        throw cannotWrite(cause);
      }
    },
    async finish(naming) {
      try {
        const sha256 = hash.digest('hex');
        await flusher.ended();
        await file.sync();
        naming(sha256);
        await nameBlob(stored.folder, path, sha256);
        isOpen = false;
        await file.close();
        await stored.ship(sha256);
        return { sha256, bytes };
      } catch (cause) {
        await abort();
        throw cannotWrite(cause);
      }
    },
    abort,
  };
};

/**
 * Flushes a file while it is written. `ended` rejects with the first failure: the kernel reports a lost write to one flush
 * only, so that a later one may succeed without its bytes.
 */
const flushEarly = (file: FileHandle) => {
  let flushed = 0;
  let isFlushing = false;
  let last: Promise<void> = Promise.resolve();
  return {
    written(bytes: number): void {
      if (isFlushing || bytes - flushed < FLUSH_BYTES) return;
      flushed = bytes;
      isFlushing = true;
      last = Promise.all([last, file.datasync()]).then(() => {
        isFlushing = false;
      });
      // A failure ends the early flushes, and is reported at the end.
      last.catch(() => {});
    },
    ended: (): Promise<void> => last,
  };
};

/** A single write may take less than the chunk. */
const writeAll = async (file: FileHandle, chunk: Uint8Array): Promise<void> => {
  for (let at = 0; at < chunk.byteLength; ) {
    const { bytesWritten } = await file.write(chunk, at, chunk.byteLength - at);
    at += bytesWritten;
  }
};

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const cannotWrite = (cause: unknown): Unavailable => {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Unavailable(`the file cannot be written (${reason})`, { cause });
};
