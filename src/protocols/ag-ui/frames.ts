import type { AGUIEventByType, EventType } from '@ag-ui/core';
import type { AgUiEvent } from './events.ts';

/**
 * Events of the protocol as text: one `data:` line of JSON each (chat-and-agui.md 2.7, 12). What an event may hold
 * is checked against the official types by the compiler.
 */

export type EventFields = {
  // An event that `events.ts` does not describe is not sent.
  [Type in EventType as `${Type}` & AgUiEvent['type']]: Omit<AGUIEventByType[Type], 'type'>;
};

/** Keys that are undefined are left out. */
export const frame = <Type extends keyof EventFields>(type: Type, fields: EventFields[Type]): string =>
  `data: ${JSON.stringify({ type, ...fields })}\n\n`;

/** Behind the text of a delta. */
export const DELTA_END = '}\n\n';

/** In front of the text of a delta of this message. */
export const deltaHead = (
  type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT',
  messageId: string,
): string => `data: {"type":"${type}","messageId":${JSON.stringify(messageId)},"delta":`;

export const argumentsFrame = (toolCallId: string, delta: string): string =>
  `data: {"type":"TOOL_CALL_ARGS","toolCallId":${JSON.stringify(toolCallId)},"delta":${JSON.stringify(delta)}${DELTA_END}`;
