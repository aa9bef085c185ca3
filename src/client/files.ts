import type { FileList, FilePurpose, StoredFile } from '../schema/file.ts';
import { type Connection, call, path, send } from './connection.ts';
import type { KeyedOptions } from './keyed.ts';
import { type Paged, paged } from './pages.ts';

type Options = { signal?: AbortSignal };

/**
 * Properties of a file to upload (openai.md 9.1).
 *
 * @example
 * ```ts
 * const about: NewFile = { filename: 'report.txt', expires_in_secs: 86_400 };
 * await client.files.put(new Blob(['Revenue grew.'], { type: 'text/plain' }), about);
 * ```
 */
export type NewFile = {
  /** Default: the name of a `File`. */
  filename?: string;
  /** Kept as it is given. Default: `user_data`. */
  purpose?: FilePurpose;
  /** 3,600 to 2,592,000. Default: the setting `files.default_ttl_secs`. */
  expires_in_secs?: number;
};

/**
 * The files to list, and the size and start of the page.
 *
 * @example
 * ```ts
 * const filter: FileFilter = { purpose: 'vision', order: 'asc' };
 * for await (const { id, filename, bytes } of client.files.list(filter)) console.log(id, filename, bytes);
 * ```
 */
export type FileFilter = {
  purpose?: FilePurpose;
  /** By time of the upload. Default: `desc`. */
  order?: 'asc' | 'desc';
  /** 1 to 100. */
  limit?: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string;
};

/**
 * One page of files.
 *
 * @example
 * ```ts
 * const page: FilePage = await client.files.list({ limit: 10 });
 * console.log(page.items.length, page.next_cursor);
 * ```
 */
export type FilePage = { items: StoredFile[]; next_cursor: string | null };

/**
 * Uploaded files (openai.md 9), which messages refer to by id: `client.files`.
 *
 * @example
 * ```ts
 * const { id } = await client.files.put(new File(['Revenue grew.'], 'report.txt', { type: 'text/plain' }));
 * const messages = [{ role: 'user', content: 'Summarize this.', files: [id] }] as const;
 * console.log(await client.runs.stream({ agentId: 'default', messages }).text());
 * console.log(await (await client.files.content(id)).text());
 * await client.files.remove(id);
 * ```
 */
export type Files = {
  /**
   * Uploads a file, and resolves when it is durable. The type of the blob is that of the file.
   *
   * @throws InvalidRequest; Unavailable; TroupeError with status 413 for a large file, 429 for too many uploads, 507
   *   without room
   */
  put(file: Blob, about?: NewFile, options?: KeyedOptions): Promise<StoredFile>;
  /** Returns the record of a file. @throws NotFound */
  get(id: string, options?: Options): Promise<StoredFile>;
  /** Lists uploaded files, newest first. Files that were sent within messages are not listed. */
  list(filter?: FileFilter, options?: Options): Paged<FilePage, StoredFile>;
  /** Returns a response whose body is the content. @throws NotFound */
  content(id: string, options?: Options): Promise<Response>;
  /** Deletes a file. Messages that refer to it then contain a note in its place. @throws NotFound, Unauthorized */
  remove(id: string, options?: Options): Promise<void>;
};

export const createFiles = (connection: Connection): Files => ({
  put: (file, about, options) => call(connection, 'POST', FILES, { ...options, form: formOf(file, about) }),
  get: (id, options) => call(connection, 'GET', fileAt(id), options),
  list: ({ cursor, ...query } = {}, options) =>
    paged(
      async (after) => {
        const { data, has_more, last_id } = await call<FileList>(connection, 'GET', FILES, {
          signal: options?.signal,
          query: { ...query, after },
        });
        return { items: data, next_cursor: has_more ? last_id : null };
      },
      ({ items }) => items,
      cursor,
    ),
  content: (id, options) => send(connection, 'GET', `${fileAt(id)}/content`, options),
  async remove(id, options) {
    await call(connection, 'DELETE', fileAt(id), options);
  },
});

const FILES = '/v1/files';

const fileAt = (id: string): string => path`/v1/files/${id}`;

/** The fields precede the file, so that a service can reject them first. */
const formOf = (
  file: Blob,
  { filename = nameOf(file), purpose = 'user_data', expires_in_secs }: NewFile = {},
): FormData => {
  const form = new FormData();
  form.append('purpose', purpose);
  if (expires_in_secs !== undefined) {
    form.append('expires_after[anchor]', 'created_at');
    form.append('expires_after[seconds]', String(expires_in_secs));
  }
  form.append('file', file, filename);
  return form;
};

const nameOf = (file: Blob): string => ('name' in file && typeof file.name === 'string' ? file.name : 'file');
