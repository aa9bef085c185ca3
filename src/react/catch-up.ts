import type { UIMessage } from 'ai';
import { call, path } from '../client/connection.ts';
import { NotFound } from '../client/errors.ts';
import { executeWaiting } from './page-tools.ts';
import type { ThreadChat } from './thread.ts';

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

const follow = async (thread: ThreadChat): Promise<void> => {
  const { chat } = thread;
  if (!mayWrite(thread)) return;
  const isWaiting = await showStored(thread);
  if (!mayWrite(thread)) return;
  // Until its end is told: a stream that could not be asked for has none.
  thread.isStale = true;
  await chat.resumeStream();
  if (chat.status === 'ready') thread.isStale = false;
  // The run may have ended in between, and then there was no stream.
  if (chat.lastMessage?.role === 'user') await showStored(thread);
  if (!thread.isStale) await noteState(thread, isWaiting);
};

/** @returns whether the thread's run waits */
const showStored = async (thread: ThreadChat): Promise<boolean> => {
  const { chat } = thread;
  const { messages, isWaiting } = await readStored(thread);
  if (!mayWrite(thread)) return false;
  const last = chat.lastMessage;
  const isSent = last?.role !== 'user' || messages.some(({ id }) => id === last.id);
  chat.messages = isSent ? messages : [...messages, last];
  return isWaiting;
};

type Active = { active_run: { status: string } | null };
type Stored = { messages: UIMessage[]; isWaiting: boolean };

const readStored = async ({ chat, connection }: ThreadChat): Promise<Stored> => {
  // In this order: a run that ends in between is looked at again.
  const { active_run } = await call<Active>(connection, 'GET', path`/v1/threads/${chat.id}/runs/active`);
  const history = path`/v1/ai-sdk/threads/${chat.id}/messages`;
  const query = { order: 'desc', limit: 200 };
  const { messages } = await call<{ messages: UIMessage[] }>(connection, 'GET', history, { query });
  messages.reverse();
  const isWaiting = active_run?.status === 'waiting';
  if (active_run?.status !== 'running') return { messages, isWaiting };
  // The stream tells its steps from the beginning, or from the last approval on; they are not to be there twice.
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return { messages: messages.slice(0, asked + 1), isWaiting };
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
