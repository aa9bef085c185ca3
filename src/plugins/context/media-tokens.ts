import type { z } from 'zod';
import type { MediaSource } from '../../schema/message.ts';
import { textTokens } from './text-tokens.ts';

/**
 * Tokens of pictures and files, estimated by their size: what a provider counts depends on pixels, pages and seconds,
 * which only a decoder could read.
 */

type Media = z.infer<typeof MediaSource>;

/** `bytes`: of the file, for each token. `usual`: of a file whose size is unknown. */
const KINDS = {
  // 750 pixels are a token for Anthropic, and a compressed pixel takes about a quarter of a byte. Large pictures are
  // scaled down by all providers.
  image: { bytes: 190, least: 85, most: 1600, usual: 1100 },
  // A page of a PDF file is about 50 KB, and 2,000 tokens with its picture.
  document: { bytes: 25, least: 500, most: 300_000, usual: 4000 },
  // 32 tokens a second for Gemini, at 16 KB a second.
  audio: { bytes: 500, least: 50, most: 300_000, usual: 2000 },
  // 300 tokens a second for Gemini, at 250 KB a second.
  video: { bytes: 830, least: 300, most: 1_000_000, usual: 10_000 },
} as const;

export function mediaTokens(kind: keyof typeof KINDS, source: Media): number {
  const { bytes, least, most, usual } = KINDS[kind];
  if (source.type === 'url') return usual;
  const size = Buffer.byteLength(source.data, 'base64');
  if (kind === 'document' && isText(source.media_type)) return textFileTokens(source.data, size);
  return Math.min(most, Math.max(least, Math.ceil(size / bytes)));
}

const isText = (mediaType: string): boolean => /^text\/|[/+](?:json|xml|yaml)\b/.test(mediaType);

/** As much of a text file is read as shows in which script it is. */
const SAMPLE = 16_384;

function textFileTokens(data: string, size: number): number {
  const sample = Buffer.from(data.slice(0, SAMPLE), 'base64');
  const tokens = textTokens(sample.toString());
  return sample.length === 0 ? 0 : Math.ceil((tokens * size) / sample.length);
}
