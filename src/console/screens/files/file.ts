import { FilePurpose } from '../../../schema/file.ts';
import { fields, flag, list, nullable, number, object, optional, text } from '../../data/guard.ts';
import { invalidate, type Resource } from '../../data/queries.ts';
import { backendUrl, pathOf, send } from '../../data/request.ts';
import type { Paged, PageOf } from '../../list/pages.ts';

/** Files of clients, tools and threads (openai.md 9). Times are seconds. */

const FILES = '/v1/files';

export const StoredFile = object({
  ...fields(text, 'id', 'filename', 'media_type', 'purpose'),
  bytes: number,
  created_at: number,
  expires_at: nullable(number),
  link: optional(text),
});
export type StoredFile = ReturnType<typeof StoredFile>;

const List = object({ data: list(StoredFile), last_id: nullable(text), has_more: flag });

const Page = (value: unknown, at: string): PageOf<StoredFile> => {
  const { data: items, last_id, has_more } = List(value, at);
  return {
    items,
    total: undefined,
    searched: undefined,
    next_cursor: has_more ? (last_id ?? undefined) : undefined,
  };
};

export const OFF = { statuses: [404], setting: 'SERVICE_FILES_ENABLED' } as const;

export const filesOf = (query: {
  purpose?: string | undefined;
  thread?: string | undefined;
}): Paged<StoredFile> => ({
  path: FILES,
  query: { purpose: query.purpose, thread_id: query.thread },
  guard: Page,
  off: OFF,
  isOpenAi: true,
  idOf: ({ id }) => id,
});

/** Its link expires, so it is read again before that. */
const EVERY_MS = 600_000;

export const fileOf = (id: string): Resource<StoredFile> => ({
  path: pathOf`/v1/files/${id}`,
  guard: StoredFile,
  every: EVERY_MS,
});

export const changedFiles = (): void => invalidate(FILES);

export const PURPOSES = FilePurpose.options;

/** Uploads the file as the body of a request, so that the browser reads it from the disk as it is sent. */
export const upload = async (file: File): Promise<StoredFile> => {
  const query = { filename: file.name, purpose: 'user_data' };
  const stored = await send({ method: 'POST', path: FILES, query, body: file }, StoredFile);
  changedFiles();
  return stored;
};

/** The address of the content, which needs no token. Browsers save it, or show it if it is `inline`. */
export const contentUrl = (link: string, isInline: boolean): string => {
  const { pathname, search } = new URL(link, location.href);
  return `${backendUrl()}${pathname}${search}${isInline ? '&inline=true' : ''}`;
};

export type Shown = 'image' | 'audio' | 'video' | 'pdf' | 'text' | 'none';

const MOST_TEXT = 262_144;

export const shownAs = ({ media_type, bytes }: Pick<StoredFile, 'media_type' | 'bytes'>): Shown => {
  const [type = ''] = media_type.split(';', 1);
  if (type === 'application/pdf') return 'pdf';
  const [family] = type.split('/', 1);
  if (family === 'image' || family === 'audio' || family === 'video') return family;
  const isText = family === 'text' || /^application\/(?:json|xml|yaml|x-ndjson)$/.test(type);
  return isText && bytes <= MOST_TEXT ? 'text' : 'none';
};
