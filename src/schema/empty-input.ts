import type { ContentBlock } from './message.ts';

/**
 * A file without content: providers refuse it, and a thread that has one in its history would fail in every later run,
 * so each protocol refuses it before it is stored. An empty text is accepted (runtime.md 4.2).
 *
 * @returns what is wrong with the content of a message of a user, to follow the name of the message
 */
export function emptyInputProblem(content: readonly ContentBlock[]): string | undefined {
  const empty = content.find((block) => 'source' in block && isEmptySource(block.source));
  return empty && `has an empty file (${empty.type})`;
}

type Source = Extract<ContentBlock, { source: unknown }>['source'];

function isEmptySource(source: Source): boolean {
  return source.type === 'url' ? source.url.trim() === '' : source.data === '';
}
