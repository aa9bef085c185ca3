import type { AGUIEventByType, EventType } from '@ag-ui/core';
import type { AgUiEvent } from './events.ts';

/**
 * Serializes events of the protocol: one `data:` line of JSON each (chat-and-agui.md 2.7, 12). The compiler checks the
 * fields against the official types.
 */

export type EventFields = {
  // Only events that `events.ts` describes can be sent.
  [Type in EventType as `${Type}` & AgUiEvent['type']]: Omit<AGUIEventByType[Type], 'type'>;
};

/** Undefined keys are omitted. */
export const frame = <Type extends keyof EventFields>(type: Type, fields: EventFields[Type]): string =>
  `data: ${JSON.stringify({ type, ...fields })}\n\n`;

/** Suffix of a delta frame. */
export const DELTA_END = '}\n\n';

/** Prefix of a delta frame of this message. */
export const deltaHead = (
  type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT',
  messageId: string,
): string => `data: {"type":"${type}","messageId":${JSON.stringify(messageId)},"delta":`;

export const argumentsFrame = (toolCallId: string, delta: string): string =>
  `data: {"type":"TOOL_CALL_ARGS","toolCallId":${JSON.stringify(toolCallId)},"delta":${JSON.stringify(delta)}${DELTA_END}`;
