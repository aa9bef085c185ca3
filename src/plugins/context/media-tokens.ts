import type { z } from 'zod';
import type { MediaSource } from '../../schema/message.ts';
import { textTokens } from './text-tokens.ts';

/**
 * Estimates the tokens of images and files by their size. Providers count pixels, pages and seconds, which only a
 * decoder could read.
 */

type Media = z.infer<typeof MediaSource>;

/** `bytes` of the file per token; `usual` tokens of a file of unknown size. */
const KINDS = {
  // 750 pixels are one token for Anthropic, and a compressed pixel takes about a quarter of a byte. All providers scale
  // large images down.
  image: { bytes: 190, least: 85, most: 1600, usual: 1100 },
  // A page of a PDF file is about 50 KB and, with its image, 2,000 tokens.
  document: { bytes: 25, least: 500, most: 300_000, usual: 4000 },
  // Gemini: 32 tokens a second, at 16 KB a second.
  audio: { bytes: 500, least: 50, most: 300_000, usual: 2000 },
  // Gemini: 300 tokens a second, at 250 KB a second.
  video: { bytes: 830, least: 300, most: 1_000_000, usual: 10_000 },
} as const;

export function mediaTokens(kind: keyof typeof KINDS, source: Media): number {
  const { bytes, least, most, usual } = KINDS[kind];
  if (source.type === 'url') return usual;
  if (source.type === 'file')
    return source.bytes === undefined ? usual : clamp(source.bytes / bytes, least, most);
  const size = Buffer.byteLength(source.data, 'base64');
  if (kind === 'document' && isText(source.media_type)) return textFileTokens(source.data, size);
  return clamp(size / bytes, least, most);
}

const clamp = (tokens: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, Math.ceil(tokens)));

const isText = (mediaType: string): boolean => /^text\/|[/+](?:json|xml|yaml)\b/.test(mediaType);

/** Sample of a text file in base64 characters, large enough to detect its script. */
const SAMPLE = 16_384;

function textFileTokens(data: string, size: number): number {
  const sample = Buffer.from(data.slice(0, SAMPLE), 'base64');
  const tokens = textTokens(sample.toString());
  return sample.length === 0 ? 0 : Math.ceil((tokens * size) / sample.length);
}
