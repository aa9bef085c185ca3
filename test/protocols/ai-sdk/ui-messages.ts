import { toUIMessage, type UIMessage } from '../../../src/protocols/ai-sdk/messages.ts';
import { createOutline } from '../../../src/protocols/ai-sdk/outline.ts';
import type { Suspensions } from '../../../src/protocols/ai-sdk/suspensions.ts';
import type { Message } from '../../../src/schema/message.ts';

/** All client messages for a history in memory, oldest first. */
export const toUIMessages = (messages: readonly Message[], suspensions: Suspensions): UIMessage[] => {
  const outline = createOutline<Message>();
  for (const message of messages.toReversed()) outline.add(message, message);
  const read = (message: Message): Message => message;
  return outline.messages.toReversed().flatMap((each) => toUIMessage(each, { read, suspensions }) ?? []);
};
