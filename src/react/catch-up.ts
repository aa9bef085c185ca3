import type { UIMessage } from 'ai';
import { call, path, send } from '../client/connection.ts';
import { NotFound } from '../client/errors.ts';
import { executeWaiting } from './page-tools.ts';
import type { Live, ThreadChat } from './thread.ts';

/** What a page does to show what the service has, and to have the service stop. */

/** An answer is on its way to this page; nothing else may write its messages. */
export const isBusy = ({ chat: { status } }: ThreadChat): boolean =>
  status === 'submitted' || status === 'streaming';

const mayWrite = (thread: ThreadChat): boolean => thread.shown > 0 && !isBusy(thread);

/** From now on a page shows the chat. Returns how to end that: its stream is let go, and the run goes on. */
export const enter = (thread: ThreadChat): (() => void) => {
  thread.shown += 1;
  return () => {
    thread.shown -= 1;
    if (thread.shown === 0) thread.chat.stop();
  };
};

/**
 * Shows what is stored, and follows what is under way to its end. The user may say something at any time meanwhile.
 * @throws TroupeError, ConnectionLost
 */
export const catchUp = (thread: ThreadChat): Promise<void> => {
  thread.catching ??= follow(thread).finally(() => {
    thread.catching = undefined;
  });
  return thread.catching;
};

const follow = async (thread: ThreadChat, isAgain = false): Promise<void> => {
  if (!mayWrite(thread)) return;
  thread.isStale = true;
  const { asking } = thread;
  // First: from its beginning on it has all of the answer that the messages, read after it, may not have yet.
  const live = await openLive(thread);
  const stored = await readStored(thread).catch((error: unknown) => {
    live?.letGo();
    throw error;
  });
  // The user has left, or said something meanwhile: all is read again once that has its answer.
  if (!mayWrite(thread) || thread.asking !== asking) return live?.letGo();
  show(thread, live ? upToQuestion(stored.messages) : stored.messages);
  if (live) return resume(thread, live);
  thread.chat.clearError();
  const isRunning = stored.status === 'running';
  // One may have begun in between, and what it answers is then read before it was asked.
  const mayRun = isRunning || stored.messages.at(-1)?.role === 'user';
  if (mayRun && !isAgain) return follow(thread, true);
  // It has no such stream, and is looked at from time to time.
  if (isRunning) return;
  thread.isStale = false;
  await noteState(thread, stored.status === 'waiting');
};

/** The stream of the run that is under way, if any. The chat is told of it only then: it takes none for an end. */
const openLive = async ({ chat, connection }: ThreadChat): Promise<Live | undefined> => {
  const leaving = new AbortController();
  const target = path`/v1/ai-sdk/chat/${chat.id}/stream`;
  const response = await send(connection, 'GET', target, { signal: leaving.signal });
  return response.status === 204 ? undefined : { response, letGo: () => leaving.abort() };
};

/** To its end, which the chat tells. */
const resume = async (thread: ThreadChat, live: Live): Promise<void> => {
  thread.isStale = false;
  thread.live = live;
  await thread.chat.resumeStream();
};

type Active = { active_run: { status: string } | null };
type Stored = { messages: UIMessage[]; status: string | undefined };

const readStored = async ({ chat, connection }: ThreadChat): Promise<Stored> => {
  // In this order: a run that ends in between is looked at again.
  const { active_run } = await call<Active>(connection, 'GET', path`/v1/threads/${chat.id}/runs/active`);
  const history = path`/v1/ai-sdk/threads/${chat.id}/messages`;
  const query = { order: 'desc', limit: 200 };
  const { messages } = await call<{ messages: UIMessage[] }>(connection, 'GET', history, { query });
  return { messages: messages.reverse(), status: active_run?.status };
};

/** Up to the last thing said: the stream tells what comes behind it, which is not to be there twice. */
const upToQuestion = (messages: UIMessage[]): UIMessage[] =>
  messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1);

const show = ({ chat }: ThreadChat, messages: UIMessage[]): void => {
  const last = chat.lastMessage;
  // What could not be sent is there still.
  const isSent = last?.role !== 'user' || messages.some(({ id }) => id === last.id);
  chat.messages = isSent ? messages : [...messages, last];
};

/** A stream has ended. @throws as `catchUp` */
export const settle = async (thread: ThreadChat, isWaiting: boolean): Promise<void> => {
  // It may be the one that is being caught up with.
  await thread.catching?.catch(() => {});
  if (thread.isStale) return catchUp(thread);
  await noteState(thread, isWaiting);
};

/** What waits for the page is done, and who changes the thread from now on is noticed. */
const noteState = async (thread: ThreadChat, isWaiting: boolean): Promise<void> => {
  if (!mayWrite(thread)) return;
  if (isWaiting) executeWaiting(thread);
  thread.seen = undefined;
  await look(thread);
};

/** Asks whether the thread has changed, and if it has, what there is. @throws as `catchUp` */
export const look = async (thread: ThreadChat): Promise<void> => {
  const { chat, connection } = thread;
  if (!mayWrite(thread)) return;
  if (thread.isStale) return catchUp(thread);
  // Nobody can have changed what is not there.
  if (chat.messages.length === 0) return;
  const { seen } = thread;
  const now = JSON.stringify(await call(connection, 'GET', path`/v1/threads/${chat.id}`));
  if (!mayWrite(thread) || thread.seen !== seen) return;
  thread.seen = now;
  if (seen !== undefined && seen !== now) await catchUp(thread);
};

/** After a failure: asks again, if the question has no answer. @throws as `catchUp` */
export const retry = async (thread: ThreadChat): Promise<void> => {
  await catchUp(thread);
  if (thread.chat.lastMessage?.role === 'user') await thread.chat.regenerate();
};

/** Ends the run, and with it its stream. One that has ended already is none to complain about. @throws as `catchUp` */
export const stop = async (thread: ThreadChat): Promise<void> => {
  const { asking, chat, connection } = thread;
  await asking;
  await call(connection, 'POST', path`/v1/ai-sdk/threads/${chat.id}/cancel`).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
  });
  if (!isBusy(thread)) await catchUp(thread);
};
