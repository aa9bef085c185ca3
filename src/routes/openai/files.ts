import { z } from 'zod';
import { type Files, storedFile } from '../../files/files.ts';
import { Refusal } from '../../http/errors.ts';
import { isCached } from '../../http/etag.ts';
import type { Family } from '../../http/family.ts';
import { JSON_TYPE, type Reply, textReply } from '../../http/reply.ts';
import { type RouteRequest, reply, route } from '../../http/route.ts';
import type { Access } from '../../identity/access/access.ts';
import { badLink, createFileAccess, type FileAccess, unknownFile } from '../../identity/access/files.ts';
import { OPENAI_ERRORS, openAiErrors } from '../../protocols/openai/errors.ts';
import { DeletedFile, FileList, FilePurpose, StoredFile } from '../../schema/file.ts';
import { Integrity, Invalid } from '../../schema/outcome.ts';
import { asInteger } from '../../schema/paging.ts';
import type { Place } from '../../schema/place.ts';
import type { FileQuery, FileRow } from '../../store/index.ts';
import { refuseUnrouted } from './unserved.ts';
import { uploadRoute } from './upload.ts';

/** Files (openai.md 9.1, 9.4). */

const PATH = '/v1/files';

type FileRouteDeps = { files: Files; access: Access };

const about = {
  tag: 'files',
  errors: OPENAI_ERRORS,
} as const;

const FileParams = z.object({ id: z.string().meta({ description: 'id of a file' }) });

export const fileRoutes = (deps: FileRouteDeps): Family => {
  const access = createFileAccess(deps.files, deps.access);
  return {
    path: PATH,
    needs: 'read',
    errors: () => openAiErrors,
    refuse: refuseUnrouted,
    routes: [uploadRoute(deps, PATH), ...readRoutes(deps, access), contentRoute(deps, access)],
  };
};

const ListQuery = z.object({
  purpose: FilePurpose.optional().meta({ description: 'only files with this purpose' }),
  after: z.string().optional().meta({ description: 'id of the last file of the previous page' }),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'must be between 1 and 100')
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .optional()
    .transform((limit) => limit ?? 20)
    .meta({ description: 'page size, 1 to 100', ...asInteger({ default: 20 }) }),
  order: z.enum(['asc', 'desc']).optional().meta({ description: 'by time of the upload; default `desc`' }),
  thread_id: z.string().optional().meta({ description: 'the files that messages of this thread contained' }),
});

const readRoutes = ({ files, access }: FileRouteDeps, { file, find }: FileAccess) => [
  route.get(PATH, {
    ...about,
    id: 'listFiles',
    summary: 'Files, newest first by default',
    description:
      'Files that were sent within messages belong to their thread: only a request with `thread_id` lists them.',
    needs: 'read',
    query: ListQuery,
    responses: { 200: FileList },
    handle({ principal, query: { purpose, after, limit, order, thread_id } }) {
      const last = after === undefined ? undefined : find(principal, after);
      if (after !== undefined && !last) throw new Invalid(`after: no file has the id '${after}'`);
      const page = { purpose, after: last, ascending: order === 'asc', limit: limit + 1 };
      const found =
        thread_id === undefined
          ? files.list({ lists: access.lists(principal), ...page })
          : pageOfThread(files, access.thread(principal, thread_id, 'read'), page);
      const data = found.slice(0, limit).map(storedFile);
      return {
        object: 'list',
        data,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
        has_more: found.length > limit,
      };
    },
  }),
  route.get(`${PATH}/:id`, {
    ...about,
    id: 'getFile',
    summary: 'One file',
    description: 'Without its content, but with a link to it.',
    needs: 'read',
    params: FileParams,
    responses: { 200: StoredFile, 404: OPENAI_ERRORS.schema },
    handle({ principal, params }) {
      const row = file(principal, params.id, 'read');
      return { ...storedFile(row), link: files.links.link(row.id) };
    },
  }),
  route.delete(`${PATH}/:id`, {
    ...about,
    id: 'deleteFile',
    summary: 'Delete a file',
    description: 'Messages that refer to it then contain a note in its place.',
    needs: 'invoke',
    params: FileParams,
    responses: { 200: DeletedFile, 404: OPENAI_ERRORS.schema },
    async handle({ principal, params: { id } }) {
      await files.remove(file(principal, id, 'write'));
      return { id, object: 'file', deleted: true };
    },
  }),
];

const pageOfThread = (
  files: Files,
  { scope, id }: Place,
  { purpose, after, ascending, limit }: Omit<FileQuery, 'lists'>,
): FileRow[] => {
  const rows = files.ofThread(scope, id).filter((row) => purpose === undefined || row.purpose === purpose);
  if (!ascending) rows.reverse();
  const start = rows.findIndex((row) => row.id === after?.id) + 1;
  return rows.slice(start, start + limit);
};

const ContentQuery = z.object({
  inline: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true`: shown by browsers, for images, audio, video, PDF and plain text' }),
  expires: z.string().optional().meta({ description: 'of a link: seconds since the epoch' }),
  signature: z.string().optional().meta({ description: 'of a link' }),
});

const contentRoute = ({ files }: FileRouteDeps, { file }: FileAccess) =>
  route.get(`${PATH}/:id/content`, {
    ...about,
    id: 'getFileContent',
    summary: 'Content of a file',
    description:
      'The bytes, as an attachment. A link with `expires` and `signature` needs no other credential. One range of bytes may be requested.',
    needs: 'read',
    headers: ['Range', 'If-None-Match'],
    params: FileParams,
    query: ContentQuery,
    hasOwnCredential: (_, query) => query.includes('signature='),
    responses: {
      200: { description: 'The bytes.', content: { '*/*': z.unknown() }, headers: CONTENT_HEADERS },
      206: { description: 'The requested range.', content: { '*/*': z.unknown() }, headers: CONTENT_HEADERS },
      304: 'The client has the content.',
      404: OPENAI_ERRORS.schema,
      416: { description: 'The range begins after the end.', content: { [JSON_TYPE]: OPENAI_ERRORS.schema } },
    },
    handle(request) {
      const row = foundFor(files, file, request);
      if (!files.isComplete(row)) throw new Integrity(`the content of file '${row.id}' is missing`);
      return contentReply(files, row, { inline: request.query.inline === 'true', header: request.header });
    },
  });

const CONTENT_HEADERS = {
  'Accept-Ranges': '`bytes`',
  ETag: 'SHA-256 of the content.',
  'Content-Disposition': '`attachment` or, with `inline=true`, `inline`; with the name of the file.',
};

type ContentRequest = Pick<
  RouteRequest<z.output<typeof FileParams>, z.output<typeof ContentQuery>, unknown>,
  'principal' | 'params' | 'query'
>;

/** @throws NotFound, Forbidden */
const foundFor = (
  files: Files,
  find: FileAccess['file'],
  { principal, params: { id }, query: { expires = '', signature } }: ContentRequest,
): FileRow => {
  if (signature === undefined) return find(principal, id, 'read');
  if (!files.links.isValid(id, { expires, signature })) throw badLink();
  const row = files.get(id);
  if (!row) throw unknownFile(id);
  return row;
};

const contentReply = (
  files: Files,
  row: FileRow,
  { inline, header }: { inline: boolean; header(name: string): string | undefined },
): Reply => {
  const etag = `"${row.sha256}"`;
  const headers = {
    'accept-ranges': 'bytes',
    etag,
    'content-disposition': disposition(row, inline && isShown(row.media_type)),
    'x-content-type-options': 'nosniff',
    'content-security-policy': 'sandbox',
    'cache-control': 'private, no-cache',
  };
  if (isCached(header('if-none-match'), etag)) return reply(304, undefined, { etag });
  const range = rangeIn(header('range'), row.bytes);
  if (range === 'unsatisfiable')
    throw new Refusal(416, `the file has ${row.bytes} bytes`, { 'content-range': `bytes */${row.bytes}` });
  const [from, to] = range ?? [0, row.bytes - 1];
  const body = row.bytes === 0 ? new Uint8Array() : { pieces: files.chunksOf(row, from, to) };
  const whole = textReply(body, row.media_type, {
    ...headers,
    ...(range && { 'content-range': `bytes ${from}-${to}/${row.bytes}` }),
  });
  return range ? { ...whole, status: 206 } : whole;
};

const isShown = (media_type: string): boolean =>
  /^(?:image|audio|video)\/|^application\/pdf(?:;|$)|^text\/plain(?:;|$)/.test(media_type);

/** The name in both forms of RFC 6266. */
const disposition = ({ filename }: FileRow, isInline: boolean): string => {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${isInline ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encoded}`;
};

/** Returns the only range of a header; undefined for other headers, which are ignored (RFC 9110 14.2). */
const rangeIn = (
  header: string | undefined,
  bytes: number,
): readonly [number, number] | 'unsatisfiable' | undefined => {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  const end = bytes - 1;
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === '' || last === '' ? end : Math.min(Number(last), end);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  return from > end || to < from ? 'unsatisfiable' : [from, to];
};
