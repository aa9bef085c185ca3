import { deletedFileText } from '../schema/file-url.ts';
import { type MediaBlock, UNKNOWN_TYPE } from '../schema/media.ts';
import type { ContentBlock, Message } from '../schema/message.ts';
import type { InferenceRequest, Model } from './model.ts';

/**
 * Replaces references to files by their bytes in the requests of a model (openai.md 9.3), so that providers receive
 * bytes, and everything else only the reference.
 *
 * Guarantees: a file that was deleted, or that no request with the right to it has named, is a note for the model.
 * Cost: one pass over the blocks of a request; the bytes of the files for the time of the inference.
 */
export type FileReader = {
  /** Returns the bytes as base64; undefined for a deleted or unknown file. */
  read(file_id: string): Promise<string | undefined>;
};

export const withFiles = (model: Model, files: FileReader | undefined): Model =>
  files === undefined
    ? model
    : {
        ...model,
        // The model of an embedding program may be a class instance, whose accessors a spread does not copy.
        id: model.id,
        provider: model.provider,
        upstream: model.upstream,
        async stream(request, sink, signal) {
          const filled = request.messages.some(refersToFile) ? await fill(request, files) : request;
          return model.stream(filled, sink, signal);
        },
      };

type FileBlock = MediaBlock & { source: Extract<MediaBlock['source'], { type: 'file' }> };

const isReference = (block: ContentBlock): block is FileBlock =>
  'source' in block && block.source.type === 'file';

const refersToFile = ({ content }: Message): boolean => content.some(isReference);

const fill = async (request: InferenceRequest, files: FileReader): Promise<InferenceRequest> => {
  const read = new Map<string, Promise<string | undefined>>();
  const bytesOf = (file_id: string): Promise<string | undefined> => {
    const known = read.get(file_id) ?? files.read(file_id);
    read.set(file_id, known);
    return known;
  };
  const messages = await Promise.all(
    request.messages.map(async (message) =>
      refersToFile(message)
        ? { ...message, content: await Promise.all(message.content.map((block) => filled(block, bytesOf))) }
        : message,
    ),
  );
  return { ...request, messages };
};

const filled = async (
  block: ContentBlock,
  bytesOf: (file_id: string) => Promise<string | undefined>,
): Promise<ContentBlock> => {
  if (!isReference(block)) return block;
  const { source, title } = block;
  // The service sets the size when it accepts a reference.
  const data = source.bytes === undefined ? undefined : await bytesOf(source.file_id);
  if (data === undefined) return { type: 'text', text: deletedFileText(title) };
  return { ...block, source: { type: 'base64', media_type: source.media_type ?? UNKNOWN_TYPE, data } };
};
