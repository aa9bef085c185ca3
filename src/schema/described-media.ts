import { imageSize } from 'image-size';
import { decodedSize } from './base64.ts';
import { imageTypeOf, type MediaBlock, typeOfMedia } from './media.ts';

/**
 * Describes files as text, for models that cannot receive the file: `[image chart.png, image/png, 512x384, 34 KB]`.
 *
 * Guarantees: one line for any file.
 * Cost: reading the head of an image.
 */
export function describeMedia(block: MediaBlock): string {
  const { type, source, title } = block;
  const name = title ?? (source.type === 'url' ? source.url : undefined);
  const facts = [
    ...(name === undefined ? [] : [name.replaceAll(/\p{Cc}+/gu, ' ')]),
    typeOfMedia(block),
    ...sizesOf(block),
  ];
  return `[${type === 'document' ? 'file' : type} ${facts.join(', ')}]`;
}

function sizesOf(block: MediaBlock): string[] {
  const { source } = block;
  if (source.type === 'base64') return [...dimensionsOf(block), sizeInWords(decodedSize(source.data))];
  return source.type === 'file' && source.bytes !== undefined ? [sizeInWords(source.bytes)] : [];
}

/** `34 KB`, `1.2 MB` */
function sizeInWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < MIB ? `${Math.round(bytes / 1024)} KB` : `${(bytes / MIB).toFixed(1)} MB`;
}

const MIB = 1024 * 1024;

/**
 * Image formats store the dimensions at the beginning, but a photo may have a preview and a color profile before them.
 */
const HEAD_CHARACTERS = 4 * 32 * 1024;

function dimensionsOf({ type, source }: MediaBlock): string[] {
  // Only formats that models accept; the library also parses some expensive ones.
  if (type !== 'image' || source.type !== 'base64' || imageTypeOf(source.data) === undefined) return [];
  try {
    const { width, height } = imageSize(Buffer.from(source.data.slice(0, HEAD_CHARACTERS), 'base64'));
    return [`${width}x${height}`];
  } catch {
    // The image is damaged, or its dimensions are beyond the bytes that were read.
    return [];
  }
}
