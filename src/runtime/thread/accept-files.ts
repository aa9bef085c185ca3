import type { ContentBlock } from '../../schema/message.ts';
import { Invalid } from '../../schema/outcome.ts';
import type { RuntimeDeps } from '../deps.ts';

/**
 * Accepts references to files in the messages of a request: they must be those of the partition.
 *
 * @throws Invalid `file not found: <id>`
 */
export const acceptFiles = <Message extends { content: readonly ContentBlock[] }>(
  { files = acceptNone }: Pick<RuntimeDeps, 'files'>,
  partition: string,
  messages: readonly Message[],
): readonly Message[] =>
  messages.some(({ content }) => content.some(isReference))
    ? messages.map((message) => ({ ...message, content: files(partition, message.content) }))
    : messages;

const isReference = (block: ContentBlock): boolean => 'source' in block && block.source.type === 'file';

const acceptNone = (): never => {
  throw new Invalid('file not found: this service has no files');
};
