import type { FileUIPart } from 'ai';
import { blockOf } from '../chat/attachments.ts';
import { object, text } from '../data/guard.ts';
import { pathOf, send } from '../data/request.ts';
import { startRun, userMessage } from '../run-records/control.ts';
import { type Message, MessagePage } from '../thread-messages/messages.ts';

/** Forks of a conversation before a message of its user. The original stays unchanged; a fork is a thread below it. */

const PAGE = 200;

/** Reads backwards, from a number or the end, for the newest message that is sought. */
export const readBack = async (
  threadId: string,
  isSought: (message: Message) => boolean,
  before?: number,
): Promise<Message | undefined> => {
  const path = pathOf`/v1/threads/${threadId}/messages`;
  const page = await send({ path, query: { before, limit: PAGE, order: 'desc' } }, MessagePage);
  const found = page.messages.find(isSought);
  const last = page.messages.at(-1);
  return found || !page.has_more || !last ? found : readBack(threadId, isSought, last.seq);
};

/** Returns the number of visible messages before one. */
export const countBefore = async (threadId: string, seq: number): Promise<number> => {
  const path = pathOf`/v1/threads/${threadId}/messages`;
  return (await send({ path, query: { before: seq, limit: 1 } }, MessagePage)).total;
};

const Made = object({ id: text });

/** @param seq number of the last message that both conversations have. @returns the id of the new thread */
export const forkThread = async (threadId: string, seq: number): Promise<string> => {
  const path = pathOf`/v1/threads/${threadId}/fork`;
  return (await send({ method: 'POST', path, body: { at: { seq } } }, Made)).id;
};

/** Sends the first message that only the fork has. @returns the run that responds */
export const askInFork = ({
  threadId,
  agentId,
  said,
  files,
}: {
  threadId: string;
  agentId: string;
  said: string;
  files: readonly FileUIPart[];
}): Promise<{ run_id: string; thread_id: string }> =>
  startRun({ agentId, threadId, messages: [userMessage(said, files.map(blockOf))] });
