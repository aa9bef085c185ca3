import { Invalid } from '../schema/outcome.ts';
import type { FileRow } from '../store/index.ts';
import type { Files, IncomingBytes } from './files.ts';

/** Files of one user for the tools of its runs (openai.md 9.3). */
export const createToolFiles = (files: Files, partition: string) => {
  const find = (id: string): FileRow => {
    const row = files.get(id);
    if (row?.scope !== partition) throw new Invalid(`file not found: ${id}`);
    return row;
  };
  return {
    async read(id: string): Promise<Uint8Array> {
      const bytes = await files.bytesOf(find(id));
      if (!bytes) throw new Invalid(`file not found: ${id}`);
      return bytes;
    },
    async *stream(id: string): AsyncGenerator<Uint8Array, void> {
      const row = find(id);
      if (row.bytes > 0) yield* files.chunksOf(row, 0, row.bytes - 1);
    },
    async write({ name, media_type, data }: Written): Promise<string> {
      const chunks = data instanceof Uint8Array ? [data] : data;
      const row = await files.put({
        scope: partition,
        filename: name,
        media_type,
        purpose: 'assistants',
        chunks,
      });
      return row.id;
    },
  };
};

type Written = {
  name: string;
  media_type: string;
  data: Uint8Array | Exclude<IncomingBytes['chunks'], Iterable<Uint8Array>>;
};
