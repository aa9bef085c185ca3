import type { Message } from '../../schema/message.ts';

/** Context messages (agent-loop.md 9.2) stand in a request among the history; this is how they are told apart. */

const PREFIX = 'context:';

export const contextMessageId = (key: string): string => `${PREFIX}${key}`;

export const isContextMessage = ({ id }: Message): boolean => id.startsWith(PREFIX);
