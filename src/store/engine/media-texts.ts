import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { decodedSize } from '../../schema/base64.ts';
import { deletedFileText } from '../../schema/file-url.ts';
import type { MediaBlock } from '../../schema/media.ts';
import type { ContentBlock } from '../../schema/message.ts';
import type { Batch } from './batch.ts';
import { blobPath } from './blob-folder.ts';

/**
 * Stores the bytes of files in messages once, as blobs next to the store. Rows refer to them by their hash, and are
 * completed when they are read, so that everything above the store has the messages as they were sent.
 *
 * Guarantees: a blob is on the disk before the transaction with the row that refers to it. A row without its blob reads
 * as a note about the file.
 * Cost: one pass over the blocks of a message, and one read for each large file in it.
 */
export type MediaTexts = {
  /** Returns the content without the bytes of large files, and passes those files on. */
  hollow(batch: Batch, content: ContentBlock[], keep?: KeepFile): ContentBlock[];
  /** Completes the content that `hollow` returned. */
  fill(content: ContentBlock[]): ContentBlock[];
};

export type KeepFile = (file: { sha256: string; bytes: number; block: MediaBlock }) => void;

type Stored = MediaBlock & { source: { type: 'base64'; media_type: string; blob: string } };

/** @param inlineMax the most bytes that stay in a row; without it, all do */
export const createMediaTexts = (blobs: string, inlineMax: number | undefined): MediaTexts => {
  const isLarge = (block: ContentBlock): block is MediaBlock & { source: { type: 'base64'; data: string } } =>
    'source' in block && block.source.type === 'base64' && decodedSize(block.source.data) > (inlineMax ?? 0);

  const readBlob = (sha256: string): string | undefined => {
    try {
      return readFileSync(blobPath(blobs, sha256)).toString('base64');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  };

  const filled = (block: ContentBlock): ContentBlock => {
    if (!isStored(block)) return block;
    const { media_type, blob } = block.source;
    const data = readBlob(blob);
    if (data === undefined) return { type: 'text', text: deletedFileText(block.title) };
    return { ...block, source: { type: 'base64', media_type, data } };
  };

  return {
    hollow(batch, content, keep) {
      // A block that was read without its bytes has none.
      if (inlineMax === undefined || !content.some((block) => !isStored(block) && isLarge(block)))
        return content;
      return content.map((block) => {
        if (isStored(block) || !isLarge(block)) return block;
        const bytes = Buffer.from(block.source.data, 'base64');
        // Only the standard form survives the conversion.
        if (bytes.toString('base64') !== block.source.data) return block;
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        batch.blobs.set(sha256, bytes);
        keep?.({ sha256, bytes: bytes.byteLength, block });
        const { media_type } = block.source as MediaBlock['source'] & { type: 'base64' };
        const stored = { ...block, source: { type: 'base64', media_type, blob: sha256 } };
        // The row has this form until it is read.
        return stored as unknown as ContentBlock;
      });
    },
    fill: (content) => (content.some(isStored) ? content.map(filled) : content),
  };
};

const isStored = (block: ContentBlock | Stored): block is Stored =>
  'source' in block && typeof block.source === 'object' && 'blob' in block.source;
