import assert from 'node:assert/strict';
import { asSchema, readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from 'ai';
import { createChatEncoder } from '../../../src/protocols/ai-sdk/encoder.ts';
import { splitFrames } from '../../../src/protocols/split-frames.ts';
import type { Encoder } from '../../../src/runtime/run/live-channel.ts';
import type { RunEvent } from '../../../src/schema/run-event.ts';

/** Streams as the official client reads them. */

/** The keys that a frame may have (chat-and-agui.md 4): early clients reject any other. */
const KEYS: Record<string, { all: string[]; may?: string[] }> = {
  start: { all: ['messageId'] },
  'start-step': { all: [] },
  'finish-step': { all: [] },
  'text-start': { all: ['id'] },
  'text-end': { all: ['id'], may: ['providerMetadata'] },
  'text-delta': { all: ['id', 'delta'] },
  'reasoning-start': { all: ['id'] },
  'reasoning-end': { all: ['id'] },
  'reasoning-delta': { all: ['id', 'delta'] },
  'tool-input-start': { all: ['toolCallId', 'toolName'], may: ['providerExecuted'] },
  'tool-input-delta': { all: ['toolCallId', 'inputTextDelta'] },
  'tool-input-error': { all: ['toolCallId', 'toolName', 'input', 'errorText', 'providerExecuted'] },
  'tool-input-available': {
    all: ['toolCallId', 'toolName', 'input'],
    may: ['providerExecuted', 'providerMetadata'],
  },
  'tool-approval-request': { all: ['approvalId', 'toolCallId'] },
  'tool-output-available': { all: ['toolCallId', 'output', 'providerExecuted'], may: ['preliminary'] },
  'tool-output-error': { all: ['toolCallId', 'errorText', 'providerExecuted'] },
  'tool-output-denied': { all: ['toolCallId'] },
  'source-url': { all: ['sourceId', 'url'], may: ['title'] },
  'source-document': { all: ['sourceId', 'mediaType', 'title'], may: ['filename'] },
  file: { all: ['url', 'mediaType'] },
  error: { all: ['errorText'] },
  finish: { all: ['finishReason'] },
};

const DATA = { all: ['data'], may: ['id', 'transient'] };

const checkKeys = (chunk: UIMessageChunk): void => {
  const rule = chunk.type.startsWith('data-') ? DATA : KEYS[chunk.type];
  assert.ok(rule, `no such frame: ${chunk.type}`);
  const { type: _, ...rest } = chunk;
  const allowed = [...rule.all, ...(rule.may ?? [])];
  for (const key of rule.all) assert.ok(key in rest, `${chunk.type} lacks ${key}`);
  for (const key of Object.keys(rest)) assert.ok(allowed.includes(key), `${chunk.type} has ${key}`);
};

/** The chunks in some frames, each validated by the official schema. */
export const chunksOf = async (frames: string): Promise<UIMessageChunk[]> => {
  const schema = asSchema(uiMessageChunkSchema);
  const chunks: UIMessageChunk[] = [];
  for (const frame of splitFrames(frames)) {
    const json = /^data: (\{.*\})\n\n$/s.exec(frame)?.[1];
    assert.ok(json !== undefined, `not a frame: ${frame}`);
    const checked = await schema.validate?.(JSON.parse(json));
    assert.ok(checked?.success, frame);
    checkKeys(checked.value);
    chunks.push(checked.value);
  }
  return chunks;
};

export const encodeAll = (events: readonly RunEvent[], encoder: Encoder = createChatEncoder()): string =>
  events.map((event) => encoder.event(event)).join('');

export type Played = { message: UIMessage | undefined; errors: string[] };

/** The state of the client after a response; `message`: the assistant message to continue. */
export const play = async (frames: string, message?: UIMessage): Promise<Played> => {
  const chunks = await chunksOf(frames);
  const errors: string[] = [];
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: UIMessage | undefined = message;
  const onError = (error: unknown) => errors.push(error instanceof Error ? error.message : String(error));
  for await (const state of readUIMessageStream({ stream, onError, ...(message && { message }) }))
    last = state;
  return { message: last, errors };
};

/** Types of frames with their distinguishing text or id. */
export const summary = async (frames: string): Promise<string[]> =>
  (await chunksOf(frames)).map((chunk) => {
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return `${chunk.type} ${chunk.id} ${chunk.delta}`;
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-end':
        return `${chunk.type} ${chunk.id}`;
      case 'start':
        return `start ${chunk.messageId}`;
      case 'finish':
        return `finish ${chunk.finishReason}`;
      case 'error':
        return `error ${chunk.errorText}`;
      default:
        return 'toolCallId' in chunk ? `${chunk.type} ${chunk.toolCallId}` : chunk.type;
    }
  });
