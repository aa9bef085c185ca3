import type { InputBlock } from '../../src/schema/message.ts';

/** Images as clients and tools send them. */

/** The head of a PNG of 512 × 384 pixels, as far as programs read it that do not draw it. */
const HEAD = Buffer.from('89504e470d0a1a0a0000000d49484452000002000000018008060000', 'hex');

/** Base64 of what is a PNG of so many bytes for all that do not draw it. */
export const pngOf = (bytes: number): string =>
  Buffer.concat([HEAD, Buffer.alloc(bytes - HEAD.length)]).toString('base64');

/** Of 34 KB. */
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
