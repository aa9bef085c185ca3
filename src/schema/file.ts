import { z } from 'zod';

/** Files of the routes `/v1/files` (openai.md 9), in the form of OpenAI. */

export const FilePurpose = z.enum(['user_data', 'vision', 'assistants', 'batch', 'evals', 'fine-tune']);
/**
 * The purpose of an upload (openai.md 9.1). It is kept and returned, and changes nothing.
 *
 * @example
 * ```ts
 * const purpose: FilePurpose = 'user_data';
 * await client.files.put(new Blob(['Hello']), { filename: 'hello.txt', purpose });
 * ```
 */
export type FilePurpose = z.infer<typeof FilePurpose>;

export const StoredFile = z
  .object({
    id: z.string().meta({ description: '`file-` and 32 hexadecimal digits' }),
    object: z.literal('file'),
    bytes: z.int(),
    created_at: z.int(),
    expires_at: z.int().nullable().meta({ description: 'null for a file that does not expire' }),
    filename: z.string(),
    purpose: FilePurpose.meta({ description: 'kept as it was sent; it changes nothing' }),
    status: z.literal('processed'),
    media_type: z.string().meta({ description: 'type of the part, else by the suffix of the name' }),
    sha256: z.string(),
    link: z.string().optional().meta({
      description:
        'only for one file: signed link to its content, which needs no other credential for `files.link_ttl_secs`',
    }),
  })
  .meta({ id: 'File', description: 'An uploaded file. Times are seconds since the epoch.' });
/**
 * An uploaded file (openai.md 9.1). `bytes` is its length; `created_at` and `expires_at` are in seconds since the epoch.
 *
 * @example
 * ```ts
 * const file: StoredFile = await client.files.put(new Blob(['Hello']), { filename: 'hello.txt' });
 * console.log(file.id, file.media_type, file.bytes);
 * ```
 */
export type StoredFile = z.infer<typeof StoredFile>;

export const FileList = z
  .object({
    object: z.literal('list'),
    data: z.array(StoredFile),
    first_id: z.string().nullable(),
    last_id: z.string().nullable().meta({ description: 'for `after` of the next page' }),
    has_more: z.boolean(),
  })
  .meta({ id: 'FileList', description: 'One page of files.' });
export type FileList = z.infer<typeof FileList>;

export const DeletedFile = z
  .object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) })
  .meta({ id: 'DeletedFile', description: 'The file is deleted.' });
