import type { ContentBlock } from '../schema/message.ts';

/**
 * Files of the user that a run acts for (openai.md 9.3), as a tool reads and writes them.
 *
 * @example
 * ```ts
 * const copy = async (files: ToolFiles, id: string): Promise<string> =>
 *   files.write({ name: 'copy.txt', media_type: 'text/plain', data: await files.read(id) });
 * ```
 */
export type ToolFiles = {
  /** Returns all bytes. @throws Invalid `file not found: <id>` */
  read(id: string): Promise<Uint8Array>;
  /** Yields the bytes in chunks. @throws Invalid `file not found: <id>` */
  stream(id: string): AsyncIterable<Uint8Array>;
  /** Stores a file, and returns its id, which the `parts` of an output may name. @throws TooLarge */
  write(file: {
    name: string;
    media_type: string;
    data: Uint8Array | AsyncIterable<Uint8Array>;
  }): Promise<string>;
};

/** Accepts references to files in the output of a tool. @throws Invalid `file not found: <id>` */
export type AcceptReferences = (content: readonly ContentBlock[]) => ContentBlock[];
