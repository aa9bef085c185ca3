import type { FileUIPart, UIMessage } from 'ai';
import { isObject } from '../data/guard.ts';
import { type CallPart, isCall, toolOf } from './call.ts';

/**
 * Blocks of a message, drawn from top to bottom. Consecutive calls of one tool form one block, so that repeated calls
 * stay readable. A step starts with a divider, unless it only adds calls to such a block.
 */
export type Block =
  | { kind: 'text'; key: string; text: string }
  | { kind: 'reasoning'; key: string; text: string; isStreaming: boolean }
  | { kind: 'file'; key: string; file: FileUIPart }
  | { kind: 'source'; key: string; title: string; url: string | undefined }
  | { kind: 'calls'; key: string; tool: string; calls: CallPart[] }
  | { kind: 'data'; key: string; data: unknown }
  | { kind: 'retry'; key: string; error: string; attempt: number; maxAttempts: number }
  | { kind: 'step'; key: string; step: number };

type Part = UIMessage['parts'][number];

const retryBlock = (data: unknown, key: string): Block | undefined => {
  if (!isObject(data)) return undefined;
  const { error, attempt, maxAttempts } = data;
  return typeof error === 'string' && typeof attempt === 'number' && typeof maxAttempts === 'number'
    ? { kind: 'retry', key, error, attempt, maxAttempts }
    : undefined;
};

const simpleBlock = (part: Part, key: string): Block | undefined => {
  switch (part.type) {
    case 'text':
      return part.text === '' ? undefined : { kind: 'text', key, text: part.text };
    case 'reasoning':
      return part.text === ''
        ? undefined
        : { kind: 'reasoning', key, text: part.text, isStreaming: part.state === 'streaming' };
    case 'file':
      return { kind: 'file', key, file: part };
    case 'source-url':
      return { kind: 'source', key, title: part.title ?? part.url, url: part.url };
    case 'source-document':
      return { kind: 'source', key, title: part.title, url: undefined };
    case 'data-retry':
      return retryBlock(part.data, key);
    case 'data-block':
      return { kind: 'data', key, data: part.data };
    default:
      return undefined;
  }
};

export const blocksOf = ({ parts }: Pick<UIMessage, 'parts'>): Block[] => {
  const blocks: Block[] = [];
  let step = 0;
  let drawnStep = 1;
  const add = (block: Block): void => {
    if (step > drawnStep && blocks.length > 0) blocks.push({ kind: 'step', key: `step-${step}`, step });
    drawnStep = Math.max(step, 1);
    blocks.push(block);
  };
  for (const [index, part] of parts.entries()) {
    const last = blocks.at(-1);
    if (part.type === 'step-start') step += 1;
    else if (isCall(part)) {
      const tool = toolOf(part);
      if (last?.kind === 'calls' && last.tool === tool) {
        last.calls.push(part);
        drawnStep = Math.max(step, 1);
      } else add({ kind: 'calls', key: `calls-${part.toolCallId}`, tool, calls: [part] });
    } else {
      const block = simpleBlock(part, `${part.type}-${index}`);
      if (block) add(block);
    }
  }
  return blocks;
};

export const textOf = ({ parts }: Pick<UIMessage, 'parts'>): string =>
  parts.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join('\n\n');

export const filesOf = ({ parts }: Pick<UIMessage, 'parts'>): FileUIPart[] =>
  parts.filter((part) => part.type === 'file');

export const transcriptOf = (messages: readonly UIMessage[]): string =>
  messages
    .map((message) =>
      [
        `${message.role}:`,
        ...blocksOf(message).flatMap((block) => {
          if (block.kind === 'text') return [block.text];
          if (block.kind === 'file') return [`[${block.file.filename ?? block.file.mediaType}]`];
          if (block.kind === 'calls') return [`[${block.tool} × ${block.calls.length}]`];
          return [];
        }),
      ].join('\n'),
    )
    .join('\n\n');
