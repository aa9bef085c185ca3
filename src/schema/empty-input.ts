import type { ContentBlock } from './message.ts';

/**
 * Input that holds nothing. Providers refuse empty texts and empty files, and a thread that has one in its history
 * would fail in every later run, so each protocol refuses it before it is stored.
 */

/** What is wrong with the content of a message of a user, behind the name of the message. */
export function emptyInputProblem(content: readonly ContentBlock[]): string | undefined {
  const empty = content.find((block) => 'source' in block && isEmptySource(block.source));
  if (empty) return `has an empty file (${empty.type})`;
  return content.some(holdsSomething) ? undefined : 'is empty: a user message must have text or a file';
}

function holdsSomething(block: ContentBlock): boolean {
  return block.type === 'text' ? block.text.trim() !== '' : true;
}

type Source = Extract<ContentBlock, { source: unknown }>['source'];

function isEmptySource(source: Source): boolean {
  return source.type === 'url' ? source.url.trim() === '' : source.data === '';
}
