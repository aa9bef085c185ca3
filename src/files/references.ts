import { mediaBlock } from '../schema/media.ts';
import type { ContentBlock } from '../schema/message.ts';
import { Invalid } from '../schema/outcome.ts';
import type { FileRow } from '../store/index.ts';

/**
 * Accepts the references to files in the content of input (openai.md 9.3): the file must exist and belong to the
 * partition. The block gets the kind, type, size and name of the file, so that later readers need no row.
 */
export type ResolveReferences = (partition: string, content: readonly ContentBlock[]) => ContentBlock[];

/** Files of one request. */
const MOST_REFERENCES = 32;

/** @param find returns a file that has not expired */
export const createResolver =
  (find: (id: string) => FileRow | undefined): ResolveReferences =>
  (partition, content) => {
    if (content.filter(isReference).length > MOST_REFERENCES)
      throw new Invalid(`a message refers to at most ${MOST_REFERENCES} files`);
    return content.map((block) => {
      if (!isReference(block)) return block;
      const { file_id } = block.source;
      const row = find(file_id);
      if (!row || row.scope !== partition) throw new Invalid(`file not found: ${file_id}`);
      const { media_type, bytes, filename } = row;
      const { part } = block;
      return {
        ...mediaBlock(media_type, { type: 'file', file_id, media_type, bytes }, block.title ?? filename),
        ...(part && { part }),
      };
    });
  };

type Reference = Extract<ContentBlock, { source: unknown }> & { source: { type: 'file'; file_id: string } };

const isReference = (block: ContentBlock): block is Reference =>
  'source' in block && block.source.type === 'file';
