import type { UIMessage } from 'ai';
import { call, path, send } from '../client/connection.ts';
import { TroupeError, Unavailable } from '../client/errors.ts';
import { executeWaiting, letGoOfCalls } from './page-tools.ts';
import { hasFailed, ifThere, isUnchanged, readStored } from './stored.ts';
import type { Live, ThreadChat } from './thread.ts';
import { isComplete, isOpen, saysTheSame, textOf, withAnswers } from './transcript.ts';

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
    if (thread.shown > 0) return;
    letGoOfCalls(thread);
    thread.leaving = thread.chat.stop().catch(() => {});
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
  // A page that is there again at once: its stream is being let go still.
  await thread.leaving;
  if (!mayWrite(thread)) return;
  const { asking } = thread;
  // First: from its beginning on it has all of the answer that the messages, read after it, may not have yet.
  const live = await openLive(thread);
  const stored = await readStored(thread).catch((error: unknown) => {
    live?.letGo();
    throw error;
  });
  // The user has left, or said something meanwhile: all is read again once that has its answer.
  if (!mayWrite(thread) || thread.asking !== asking) return live?.letGo();
  const isWhole = show(thread, live ? upToQuestion(stored.messages) : stored.messages);
  if (live) return resume(thread, live);
  const isRunning = stored.status === 'running';
  // One may have begun in between, and what it answers is then read before it was asked.
  const mayRun = isRunning || stored.messages.at(-1)?.role === 'user';
  if (mayRun && !isAgain) return follow(thread, true);
  // It has no such stream, and is looked at from time to time.
  if (isRunning) return;
  if (isWhole && thread.chat.error && !(await hasFailed(thread)) && mayWrite(thread))
    thread.chat.clearError();
  thread.isStale = false;
  thread.isWaiting = stored.status === 'waiting';
  thread.seen = stored.record;
  if (thread.isWaiting && mayWrite(thread)) goOn(thread);
};

/** The stream of the run that is under way, if any. The chat is told of it only then: it takes none for an end. */
const openLive = async ({ chat, connection }: ThreadChat): Promise<Live | undefined> => {
  const leaving = new AbortController();
  const target = path`/v1/ai-sdk/chat/${chat.id}/stream`;
  const response = await send(connection, 'GET', target, { signal: leaving.signal });
  const reader = response.status === 204 ? undefined : response.body?.getReader();
  // With its first frame the run has begun, and what it answers can be read.
  const first = (await reader?.read())?.value;
  if (!reader || !first) return undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (rest) => rest.enqueue(first),
    async pull(rest) {
      const { value } = await reader.read();
      if (value) rest.enqueue(value);
      else rest.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, headers } = response;
  return { response: new Response(body, { status, headers }), letGo: () => leaving.abort() };
};

/** To its end, which the chat tells. */
const resume = async (thread: ThreadChat, live: Live): Promise<void> => {
  thread.live = live;
  await thread.chat.resumeStream();
};

/** Up to the last thing said: the stream tells what comes behind it, which is not to be there twice. */
const upToQuestion = (messages: UIMessage[]): UIMessage[] =>
  messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1);

/** @returns whether the service has all that was said and decided here */
const show = (thread: ThreadChat, stored: UIMessage[]): boolean => {
  const { chat, unsent } = thread;
  const has = (said: UIMessage): boolean =>
    stored.some((message) => message.id === said.id && textOf(message) === textOf(said));
  const left = chat.messages.filter((message) => unsent.has(message.id) && !has(message));
  // An edited message stands in the place of what it was.
  const place = stored.findIndex(({ id }) => id === left[0]?.id);
  thread.isEdited = place >= 0;
  const known = thread.isEdited ? stored.slice(0, place) : stored;
  const answered = withAnswers(known, chat.messages);
  thread.hasGiven = answered !== known;
  const messages = [...answered, ...left];
  if (!saysTheSame(chat.messages, messages)) chat.messages = messages;
  const open = stored.flatMap(({ parts }) => parts.filter(isOpen));
  letGoOfCalls(thread, (id) => !open.some((part) => part.toolCallId === id));
  return left.length === 0 && !thread.hasGiven;
};

/** The run waits for this page: for what it has answered, if that was lost on its way, or for its tools. */
const goOn = (thread: ThreadChat): void => {
  const { chat, hasGiven } = thread;
  const isRefused = chat.error instanceof TroupeError && !(chat.error instanceof Unavailable);
  if (hasGiven && !isRefused && isComplete(chat.messages)) void chat.sendMessage();
  else executeWaiting(thread);
};

/** A stream has ended. What it told is held against what is stored: others may have been there. @throws as `catchUp` */
export const settle = async (thread: ThreadChat): Promise<void> => {
  thread.isStale = true;
  // It may be the one that is being caught up with.
  await thread.catching?.catch(() => {});
  await catchUp(thread);
};

/** Asks whether the thread has changed, and if it has, what there is. @throws as `catchUp` */
export const look = async (thread: ThreadChat): Promise<void> => {
  if (!mayWrite(thread)) return;
  if (thread.isStale) return catchUp(thread);
  const { seen } = thread;
  const isSame = await isUnchanged(thread);
  if (!mayWrite(thread) || thread.seen !== seen) return;
  if (!isSame) return catchUp(thread);
  // Another tab that was to do it may be gone.
  if (thread.isWaiting) goOn(thread);
};

/** After a failure: asks again, if the question has no answer. @throws as `catchUp` */
export const retry = async (thread: ThreadChat): Promise<void> => {
  await catchUp(thread);
  const { chat, isEdited } = thread;
  const { lastMessage: asked } = chat;
  if (isBusy(thread) || asked?.role !== 'user') return;
  if (isEdited) await chat.sendMessage({ ...asked, messageId: asked.id });
  else await chat.regenerate();
};

/** Ends the run, and with it its stream. One that has ended already is none to complain about. @throws as `catchUp` */
export const stop = async (thread: ThreadChat): Promise<void> => {
  const { asking, chat, connection } = thread;
  await asking;
  await ifThere(call(connection, 'POST', path`/v1/ai-sdk/threads/${chat.id}/cancel`));
  if (!isBusy(thread)) await catchUp(thread);
};
