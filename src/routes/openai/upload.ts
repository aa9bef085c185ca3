import { z } from 'zod';
import { type FileFields, type Files, type ReceivedFile, storedFile, tooLarge } from '../../files/files.ts';
import { isMultipart, readUpload } from '../../files/upload.ts';
import type { BodyStream } from '../../http/body-stream.ts';
import type { Keyed } from '../../http/keyed.ts';
import { JSON_TYPE } from '../../http/reply.ts';
import { route } from '../../http/route.ts';
import { ownPartition } from '../../identity/access/own.ts';
import { OPENAI_ERRORS } from '../../protocols/openai/errors.ts';
import { FilePurpose, StoredFile } from '../../schema/file.ts';
import { Invalid } from '../../schema/outcome.ts';
import { describeIssues, phrases } from '../../schema/phrases.ts';
import { createUploadLimits } from './upload-limits.ts';

/** Uploads of files (openai.md 9.1). Their bodies are written to the disk as they arrive. */

const UploadQuery = z.object({
  filename: z.string().max(4096).optional().meta({ description: 'of a body that is the file itself' }),
  purpose: FilePurpose.optional().meta({ description: 'of a body that is the file itself' }),
});

/** Documents the multipart body; `readUpload` reads it. */
const UploadBody = z
  .object({
    file: z.string().meta({ format: 'binary' }),
    purpose: FilePurpose,
    'expires_after[anchor]': z.literal('created_at').optional(),
    'expires_after[seconds]': z.string().optional().meta({ description: '3600 to 2592000' }),
  })
  .meta({ id: 'FileUpload', description: 'A file and its purpose.' });

export const uploadRoute = ({ files }: { files: Files }, path: string) => {
  const limits = createUploadLimits(files.settings);
  return route.post<undefined, z.output<typeof UploadQuery>, unknown>(path, {
    tag: 'files',
    errors: OPENAI_ERRORS,
    id: 'uploadFile',
    summary: 'Upload a file',
    description:
      'As `multipart/form-data` with the fields `file` and `purpose`, or as a body of any other content type that is the file itself, with `filename` and `purpose` in the query. The response is sent when the file is durable.',
    needs: 'invoke',
    query: UploadQuery,
    body: UploadBody,
    reads: 'stream',
    idempotent: true,
    responses: {
      200: StoredFile,
      409: {
        description: 'Another upload with the same `Idempotency-Key` is in progress.',
        headers: { 'Retry-After': 'Seconds after which to try again.' },
        content: { [JSON_TYPE]: OPENAI_ERRORS.schema },
      },
      507: {
        description: 'The files of the scope would exceed their limit.',
        content: { [JSON_TYPE]: OPENAI_ERRORS.schema },
      },
    },
    async handle({ principal, query, body, hold, keyed }) {
      // `body` is a stream because the route reads one.
      const stream = body as BodyStream;
      const scope = ownPartition(principal);
      let end = (): void => {};
      try {
        checkLength(stream, files.settings.max_bytes);
        end = limits.begin(scope, stream);
        // An upload takes as long as its client does.
        hold();
        const received = isMultipart(stream.contentType)
          ? await receiveMultipart(files, scope, stream)
          : await receiveRaw(files, scope, { stream, query });
        return await keep(received, keyed);
      } finally {
        end();
        stream.discard();
      }
    },
  });
};

/** Bytes of a multipart body in addition to its file. */
const MOST_OVERHEAD = 64 * 1024;

const checkLength = ({ length }: BodyStream, max: number): void => {
  if (length !== undefined && length > max + MOST_OVERHEAD) throw tooLarge(max);
};

/** Limits what precedes and follows the file in a body of unknown length. */
async function* within(chunks: AsyncIterable<Uint8Array>, max: number): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > max + MOST_OVERHEAD) throw tooLarge(max);
    yield chunk;
  }
}

type Received = { stored: ReceivedFile; fields: FileFields };

/** Returns the response, of an earlier upload with the same key and content if there is one. */
const keep = async ({ stored, fields }: Received, keyed: Keyed | undefined): Promise<unknown> => {
  const earlier = keyed && earlierUpload({ stored, fields }, keyed);
  if (!earlier) return storedFile(await stored.keep(fields, keyed?.answers(storedFile)));
  stored.discard();
  return earlier;
};

/** @throws Refusal for the key of another request */
const earlierUpload = ({ stored, fields }: Received, keyed: Keyed): Promise<unknown> | undefined => {
  const { sha256, filename, media_type = null } = stored;
  const { purpose, ttlSecs = null } = fields;
  try {
    return keyed.earlier(JSON.stringify([sha256, filename, media_type, purpose, ttlSecs]));
  } catch (error) {
    stored.discard();
    throw error;
  }
};

const receiveRaw = async (
  files: Files,
  scope: string,
  { stream, query }: { stream: BodyStream; query: z.output<typeof UploadQuery> },
): Promise<Received> => {
  const { purpose, filename = '' } = query;
  if (purpose === undefined) throw new Invalid('purpose is required in the query, or in a multipart body');
  const stored = await files.receive({
    scope,
    filename,
    media_type: stream.contentType,
    chunks: stream.chunks(),
  });
  return { stored, fields: { purpose } };
};

const Fields = z.object({
  purpose: FilePurpose,
  'expires_after[anchor]': z.literal('created_at').optional(),
  'expires_after[seconds]': z.coerce.number().pipe(z.int().min(3600).max(2_592_000)).optional(),
});

/** The fields may follow the file, so a file with wrong ones is removed again. */
const receiveMultipart = async (files: Files, scope: string, stream: BodyStream): Promise<Received> => {
  const body = within(stream.chunks(), files.settings.max_bytes);
  const { stored, fields } = await readUpload(stream.contentType, body, (file) =>
    files.receive({ scope, ...file }),
  );
  const parsed = Fields.safeParse(Object.fromEntries(fields), phrases);
  if (!parsed.success) {
    stored.discard();
    throw new Invalid(describeIssues(parsed.error));
  }
  const { purpose, 'expires_after[seconds]': ttlSecs } = parsed.data;
  return { stored, fields: { purpose, ttlSecs } };
};
