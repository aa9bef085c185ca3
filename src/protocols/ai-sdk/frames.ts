import type { ChunkKeys, FinishReason, UiMessageChunk } from './chunks.ts';

/**
 * Frames of the chat protocol as text: one `data:` line of JSON each (chat-and-agui.md 2.7, 4). JSON has no line
 * breaks, so an empty line is always the end of a frame.
 */

/** Keys that are undefined are left out. */
export const frame = <Type extends UiMessageChunk['type']>(type: Type, keys: ChunkKeys<Type>): string =>
  `data: ${JSON.stringify({ type, ...keys })}\n\n`;

/** Every stream of a run that has begun has it behind its `start`. */
const RUN_INFO = 'data-run-info';

export const runInfo = (data: { runId: string; threadId: string }): string => frame(RUN_INFO, { data });

export const isRunInfo = (text: string): boolean => text.startsWith(`data: {"type":"${RUN_INFO}"`);

/** The first frames of a stream: its `start`, and what is behind that. */
export const isHead = (text: string): boolean => text.startsWith('data: {"type":"start",') || isRunInfo(text);

export const isFinish = (text: string): boolean => text.startsWith('data: {"type":"finish",');

export const START_STEP = 'data: {"type":"start-step"}\n\n';
export const FINISH_STEP = 'data: {"type":"finish-step"}\n\n';

export const finish = (finishReason: FinishReason): string => frame('finish', { finishReason });

/** Behind the text of a delta. */
export const DELTA_END = '}\n\n';

/** In front of the text of a delta of this block. */
export const deltaHead = (type: 'text' | 'reasoning', id: string): string =>
  `data: {"type":"${type}-delta","id":${JSON.stringify(id)},"delta":`;

export const toolDeltaHead = (toolCallId: string): string =>
  `data: {"type":"tool-input-delta","toolCallId":${JSON.stringify(toolCallId)},"inputTextDelta":`;

/** A quotation mark inside of an id is escaped, so the first match is the key. */
const DELTA_KEY =
  /^data: \{"type":"(?:text-delta|reasoning-delta|tool-input-delta)",.*?,"(?:delta|inputTextDelta)":/s;

/** What is in front of the text of a delta frame; undefined for every other frame. */
export const deltaHeadOf = (text: string): string | undefined => DELTA_KEY.exec(text)?.[0];
