import { imageSize } from 'image-size';
import { decodedSize } from './base64.ts';
import { imageTypeOf, type MediaBlock, typeOfMedia } from './media.ts';

/**
 * Files in words, for models that cannot be sent the file: `[image chart.png, image/png, 512x384, 34 KB]`.
 *
 * Guarantees: one line, whatever the file is. Costs one look at the head of an image.
 */
export function describeMedia(block: MediaBlock): string {
  const { type, source, title } = block;
  const name = title ?? (source.type === 'url' ? source.url : undefined);
  const facts = [
    ...(name === undefined ? [] : [name.replaceAll(/\p{Cc}+/gu, ' ')]),
    typeOfMedia(block),
    ...(source.type === 'url' ? [] : [...dimensionsOf(block), sizeInWords(decodedSize(source.data))]),
  ];
  return `[${type === 'document' ? 'file' : type} ${facts.join(', ')}]`;
}

/** `34 KB`, `1.2 MB` */
function sizeInWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < MIB ? `${Math.round(bytes / 1024)} KB` : `${(bytes / MIB).toFixed(1)} MB`;
}

const MIB = 1024 * 1024;

/** Formats have the size of an image at the beginning; a photo may have a preview and a colour profile before it. */
const HEAD_CHARACTERS = 4 * 32 * 1024;

function dimensionsOf({ type, source }: MediaBlock): string[] {
  // Only the formats that models read; the library also reads some that are expensive to parse.
  if (type !== 'image' || source.type === 'url' || imageTypeOf(source.data) === undefined) return [];
  try {
    const { width, height } = imageSize(Buffer.from(source.data.slice(0, HEAD_CHARACTERS), 'base64'));
    return [`${width}x${height}`];
  } catch {
    // The image is damaged, or its size is behind more than was read.
    return [];
  }
}
