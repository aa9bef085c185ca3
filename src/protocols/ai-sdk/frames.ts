import type { ChunkKeys, FinishReason, UiMessageChunk } from './chunks.ts';

/**
 * Serializes frames of the chat protocol: one `data:` line of JSON each (chat-and-agui.md 2.7, 4). JSON has no line
 * breaks, so an empty line always ends a frame.
 */

/** Undefined keys are omitted. */
export const frame = <Type extends UiMessageChunk['type']>(type: Type, keys: ChunkKeys<Type>): string =>
  `data: ${JSON.stringify({ type, ...keys })}\n\n`;

/** Follows the `start` of every stream of a run. */
const RUN_INFO = 'data-run-info';

export const runInfo = (data: { runId: string; threadId: string }): string => frame(RUN_INFO, { data });

export const isRunInfo = (text: string): boolean => text.startsWith(`data: {"type":"${RUN_INFO}"`);

/** Returns whether a frame belongs to the head of a stream: its `start` and the run info. */
export const isHead = (text: string): boolean => text.startsWith('data: {"type":"start",') || isRunInfo(text);

export const isFinish = (text: string): boolean => text.startsWith('data: {"type":"finish",');

export const START_STEP = 'data: {"type":"start-step"}\n\n';
export const FINISH_STEP = 'data: {"type":"finish-step"}\n\n';

export const finish = (finishReason: FinishReason): string => frame('finish', { finishReason });

/** Suffix of a delta frame. */
export const DELTA_END = '}\n\n';

/** Prefix of a delta frame of this block. */
export const deltaHead = (type: 'text' | 'reasoning', id: string): string =>
  `data: {"type":"${type}-delta","id":${JSON.stringify(id)},"delta":`;

export const toolDeltaHead = (toolCallId: string): string =>
  `data: {"type":"tool-input-delta","toolCallId":${JSON.stringify(toolCallId)},"inputTextDelta":`;

/** Quotation marks in ids are escaped, so the first match is the key. */
const DELTA_KEY =
  /^data: \{"type":"(?:text-delta|reasoning-delta|tool-input-delta)",.*?,"(?:delta|inputTextDelta)":/s;

/** Returns the prefix of a delta frame, or undefined for any other frame. */
export const findDeltaHead = (text: string): string | undefined => DELTA_KEY.exec(text)?.[0];
