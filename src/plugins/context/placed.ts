import type { Message } from '../../schema/message.ts';

/** Context messages (agent-loop.md 9.2) are placed within the history of a request, and are recognized by their id. */

const PREFIX = 'context:';

export const contextMessageId = (key: string): string => `${PREFIX}${key}`;

export const isContextMessage = ({ id }: Message): boolean => id.startsWith(PREFIX);
