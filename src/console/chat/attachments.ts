import type { FileUIPart } from 'ai';
import { kindOfMedia } from '../../schema/media-kind.ts';
import type { InputBlock } from '../../schema/message.ts';

/** Files attached to a message, within the number, size and types that the service accepts. */

export const MOST_FILES = 4;
export const MOST_BYTES = 8 * 1024 * 1024;

const TYPES = ['application/pdf', 'text/plain', 'text/markdown', 'application/json'];
const FAMILIES = ['image/', 'audio/', 'video/'];

/** Value of the `accept` attribute of the file input. */
export const ACCEPT = [...FAMILIES.map((family) => `${family}*`), ...TYPES, '.md'].join(',');

/** Browsers do not report a type for every file; the type then follows from the extension. */
const BY_ENDING: Record<string, string> = {
  md: 'text/markdown',
  markdown: 'text/markdown',
  txt: 'text/plain',
  json: 'application/json',
  pdf: 'application/pdf',
};

export const typeOf = ({ name, type }: Pick<File, 'name' | 'type'>): string => {
  const [mime = ''] = type.toLowerCase().split(';');
  return mime.trim() || (BY_ENDING[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? '');
};

const isAllowed = (mime: string): boolean =>
  TYPES.includes(mime) || FAMILIES.some((family) => mime.startsWith(family) && mime.length > family.length);

export type Attached = FileUIPart & { filename: string; bytes: number };

export type Refusal = { reason: 'many' | 'large' | 'type'; name: string };

/** Files are attached all together or not at all, because attaching half of a drop would surprise the user. */
export const refusalOf = (
  added: readonly Pick<File, 'name' | 'type' | 'size'>[],
  attached: readonly Pick<Attached, 'bytes'>[],
): Refusal | undefined => {
  const name = added[0]?.name ?? '';
  if (added.length + attached.length > MOST_FILES) return { reason: 'many', name };
  const foreign = added.find((file) => !isAllowed(typeOf(file)));
  if (foreign) return { reason: 'type', name: foreign.name };
  const bytes =
    added.reduce((sum, { size }) => sum + size, 0) + attached.reduce((sum, file) => sum + file.bytes, 0);
  return bytes > MOST_BYTES ? { reason: 'large', name } : undefined;
};

const base64Of = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });

/** The URL has no media type parameters, because the service accepts only `data:<type>;base64,…`. */
export const attach = async (file: File): Promise<Attached> => {
  const mediaType = typeOf(file);
  return {
    type: 'file',
    mediaType,
    filename: file.name,
    url: `data:${mediaType};base64,${await base64Of(file)}`,
    bytes: file.size,
  };
};

/** True for a file within the message, and false for a link. */
export const isEmbedded = (url: string): boolean => /^(data|blob):/i.test(url);

/** Converts a file for routes that accept content blocks. The type of a link may be unknown, such as `image/*`. */
export const blockOf = ({ mediaType, filename, url }: FileUIPart): InputBlock => ({
  type: kindOfMedia(mediaType),
  source: isEmbedded(url)
    ? { type: 'base64', media_type: mediaType, data: url.slice(url.indexOf(',') + 1) }
    : { type: 'url', url, ...(!mediaType.endsWith('/*') && { media_type: mediaType }) },
  ...(filename !== undefined && { title: filename }),
});

/** `1.2 MB`, `34 KB`, `6 B` */
export const sizeText = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
};
