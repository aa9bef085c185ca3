import { seconds } from '../schema/clock.ts';
import type { FilePurpose, StoredFile } from '../schema/file.ts';
import type { Accept } from '../schema/idempotency.ts';
import { guessFileType, UNKNOWN_TYPE } from '../schema/media.ts';
import { InsufficientStorage, TooLarge } from '../schema/outcome.ts';
import { baseOf } from '../schema/partition.ts';
import type { FileQuery, FileRow } from '../store/index.ts';
import type { BlobWriter, WrittenBlob } from './blobs.ts';
import type { FileDeps, FileObserver, FileSettings } from './deps.ts';
import { cleanFileName } from './file-name.ts';
import { createLinks, type Links } from './links.ts';
import { createRemoval, type Removal } from './removal.ts';

/**
 * Files of clients, tools and threads (openai.md 9): rows in the store that name blobs on the disk.
 *
 * Guarantees: a row is committed after its blob is complete, so a crash leaves no file that is listed and not whole. A
 * blob is removed after its last row, when `files.grace_secs` have passed.
 * Cost: memory of one chunk for each upload.
 */
export type Files = {
  /** Stores the bytes as they arrive. @throws TooLarge, InsufficientStorage, Unavailable */
  put(file: NewFile): Promise<FileRow>;
  /** Like `put`, for bytes that arrive before the fields of the file. Either function of the result has to be called. */
  receive(incoming: IncomingBytes): Promise<ReceivedFile>;
  /** Returns a file that has not expired. */
  get(id: string): FileRow | undefined;
  list(query: FileQuery): FileRow[];
  /** Returns the files that messages of the thread contained, oldest first. */
  ofThread(scope: string, thread_id: string): FileRow[];
  remove(row: FileRow): Promise<void>;
  /** Returns all bytes; undefined without the blob. */
  bytesOf(row: Pick<FileRow, 'sha256'>): Promise<Buffer | undefined>;
  /** Yields the bytes from `from` up to `to`, both inclusive. */
  chunksOf(row: FileRow, from: number, to: number): Generator<Uint8Array, void>;
  /** Whether the bytes of the row exist. */
  isComplete(row: FileRow): boolean;
  readonly links: Links;
  readonly settings: FileSettings;
  /** Removes expired files, and blobs without a row, from now on. */
  start(): void;
  stop(): void;
};

export type IncomingBytes = {
  /** The partition of the owner. */
  scope: string;
  filename: string;
  /** Default: by the suffix of the name. */
  media_type?: string | undefined;
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
};

export type FileFields = {
  purpose: FilePurpose;
  /** Default: `files.default_ttl_secs`. */
  ttlSecs?: number | undefined;
};

export type NewFile = IncomingBytes & FileFields;

export type ReceivedFile = Pick<IncomingBytes, 'filename' | 'media_type'> & {
  readonly sha256: string;
  /** Commits the row. @throws InsufficientStorage, Unavailable */
  keep(fields: FileFields, keyed?: Accept<FileRow>): Promise<FileRow>;
  discard(): void;
};

export const createFiles = (deps: FileDeps): Files => {
  const { store, blobs, clock, settings } = deps;
  const removal = createRemoval(deps);
  const account = createAccount(deps);
  const receive = createReceiver(deps, removal, account);

  store.files.onRemoved(removal.later);

  return {
    receive,
    async put({ purpose, ttlSecs, ...incoming }) {
      return (await receive(incoming)).keep({ purpose, ttlSecs });
    },
    get(id) {
      const row = store.files.get(id);
      return row && !isExpired(row, clock.now()) ? row : undefined;
    },
    list: (query) => store.files.list(query).filter((row) => !isExpired(row, clock.now())),
    ofThread: (scope, thread_id) =>
      store.files.ofThread(scope, thread_id).toSorted((a, b) => a.created_at - b.created_at),
    async remove(row) {
      const batch = store.batch('commons');
      store.files.remove(batch, row);
      await store.commit(batch, 'input');
    },
    bytesOf: ({ sha256 }) => blobs.read(sha256),
    chunksOf: ({ sha256 }, from, to) => blobs.chunks(sha256, from, to),
    isComplete: ({ sha256 }) => blobs.has(sha256),
    links: createLinks({
      key: store.files.linkKey,
      ttlSecs: settings.link_ttl_secs,
      publicUrl: deps.publicUrl,
      now: () => clock.now(),
    }),
    settings,
    start: removal.start,
    stop: removal.stop,
  };
};

/** The bytes of scopes, those of rows that are being committed included. */
type Account = {
  hasRoom(scope: string, bytes: number): boolean;
  commit(row: FileRow, keyed: Accept<FileRow> | undefined): Promise<void>;
};

const createAccount = ({ store, settings: { max_total_bytes: most } }: FileDeps): Account => {
  const pending = new Map<string, number>();
  const add = (base: string, bytes: number): void => {
    const sum = (pending.get(base) ?? 0) + bytes;
    if (sum > 0) pending.set(base, sum);
    else pending.delete(base);
  };
  return {
    hasRoom(scope, bytes) {
      if (most === 0) return true;
      const base = baseOf(scope);
      return store.files.bytesIn(base) + (pending.get(base) ?? 0) + bytes <= most;
    },
    async commit(row, keyed) {
      const base = baseOf(row.scope);
      add(base, row.bytes);
      try {
        const batch = store.batch('commons');
        store.files.put(batch, row);
        if (keyed) store.idempotency.put(batch, keyed(row));
        await store.commit(batch, 'input');
      } finally {
        add(base, -row.bytes);
      }
    },
  };
};

const createReceiver = (
  { blobs, clock, ids, settings, observe }: FileDeps,
  removal: Removal,
  account: Account,
): Files['receive'] => {
  const checkRoom = (scope: string, bytes: number): void => {
    if (!account.hasRoom(scope, bytes)) throw noRoom(settings.max_total_bytes);
  };
  return async (incoming) => {
    const { scope } = incoming;
    const writer = await blobs.open();
    let release = (): void => {};
    try {
      await writeWithin(writer, incoming.chunks, (bytes) => {
        if (bytes > settings.max_bytes) throw tooLarge(settings.max_bytes);
        checkRoom(scope, bytes);
      });
      const blob = await writer.finish((sha256) => {
        release = removal.keep(sha256);
      });
      return {
        filename: incoming.filename,
        media_type: incoming.media_type,
        sha256: blob.sha256,
        async keep(about, keyed) {
          try {
            const at = { id: fileIdFrom(ids.uuid()), now: clock.now(), settings };
            const row = rowFor({ ...incoming, ...about }, blob, at);
            checkRoom(scope, row.bytes);
            await account.commit(row, keyed);
            observe.uploaded('stored');
            return row;
          } finally {
            release();
          }
        },
        discard: () => release(),
      };
    } catch (error) {
      await writer.abort();
      release();
      observe.uploaded(statusOfFailure(error));
      throw error;
    }
  };
};

/** `file-` and the digits of a UUID. */
export const fileIdFrom = (uuid: string): string => `file-${uuid.replaceAll('-', '')}`;

const isExpired = ({ expires_at }: FileRow, now: number): boolean =>
  expires_at !== undefined && expires_at <= now;

/** @param check throws once there are too many bytes */
const writeWithin = async (
  writer: BlobWriter,
  chunks: IncomingBytes['chunks'],
  check: (bytes: number) => void,
): Promise<void> => {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    check(bytes);
    await writer.write(chunk);
  }
};

export const tooLarge = (max: number): TooLarge =>
  new TooLarge(`the file is larger than ${max} bytes (files.max_bytes)`);

const noRoom = (most: number): InsufficientStorage =>
  new InsufficientStorage(
    `the files of this scope would take more than ${most} bytes (files.max_total_bytes): delete some`,
  );

const statusOfFailure = (error: unknown): Parameters<FileObserver['uploaded']>[0] => {
  if (error instanceof TooLarge) return 'too_large';
  return error instanceof InsufficientStorage ? 'no_room' : 'failed';
};

const rowFor = (
  { scope, filename, media_type, purpose, ttlSecs }: NewFile,
  { sha256, bytes }: WrittenBlob,
  { id, now, settings }: { id: string; now: number; settings: FileSettings },
): FileRow => {
  const name = cleanFileName(filename);
  const ttl = ttlSecs ?? settings.default_ttl_secs;
  return {
    id,
    scope,
    sha256,
    bytes,
    filename: name,
    media_type: mediaTypeOf(media_type, name),
    purpose,
    created_at: now,
    ...(ttl > 0 && { expires_at: now + ttl * 1000 }),
  };
};

const mediaTypeOf = (given: string | undefined, name: string): string => {
  const plain = (given ?? '').trim().toLowerCase();
  return MEDIA_TYPE.test(plain) && !plain.startsWith(UNKNOWN_TYPE) ? plain : guessFileType(name);
};

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:;[\x20-\x7e]{0,200})?$/;

/** Returns the object of the routes. */
export const storedFile = (row: FileRow): StoredFile => ({
  id: row.id,
  object: 'file',
  bytes: row.bytes,
  created_at: seconds(row.created_at),
  expires_at: row.expires_at === undefined ? null : seconds(row.expires_at),
  filename: row.filename,
  purpose: row.purpose,
  status: 'processed',
  media_type: row.media_type,
  sha256: row.sha256,
});
