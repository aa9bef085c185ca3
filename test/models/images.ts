import type { InputBlock } from '../../src/schema/message.ts';

/** Images in the form that clients and tools send. */

/** The header of a 512 × 384 PNG, sufficient for programs that do not decode the image. */
const HEAD = Buffer.from('89504e470d0a1a0a0000000d49484452000002000000018008060000', 'hex');

/** Base64 of a file of this size that passes as a PNG unless it is decoded. */
export const pngOf = (bytes: number): string =>
  Buffer.concat([HEAD, Buffer.alloc(bytes - HEAD.length)]).toString('base64');

/** 34 KB. */
export const PNG = pngOf(34 * 1024);
export const PNG_IN_WORDS = '[image image/png, 512x384, 34 KB]';

export const image = (data = PNG): InputBlock => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data },
});

export const imageAt = (url: string): InputBlock => ({ type: 'image', source: { type: 'url', url } });

export const fileOf = (
  type: 'document' | 'audio' | 'video',
  media_type: string,
  data = 'AAAA',
): InputBlock => ({ type, source: { type: 'base64', media_type, data } });
