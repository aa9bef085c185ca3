import type { UIMessage } from 'ai';
import { call, path, send } from '../client/connection.ts';
import { TroupeError, Unavailable } from '../client/errors.ts';
import { executeWaiting, releaseCalls } from './page-tools.ts';
import { hasFailed, ifThere, isUnchanged, readStored } from './stored.ts';
import type { Live, ThreadChat } from './thread.ts';
import { hasSameText, isComplete, isOpen, textOf, withAnswers } from './transcript.ts';

/** Synchronizes a page with the stored thread, and stops its run. */

/** Returns whether a response is streaming to this page, so that nothing else may write messages. */
export const isBusy = ({ chat: { status } }: ThreadChat): boolean =>
  status === 'submitted' || status === 'streaming';

const mayWrite = (thread: ThreadChat): boolean => thread.shown > 0 && !isBusy(thread);

/**
 * Registers a page that shows the chat. Returns a function that ends that: the stream is released, and the run
 * continues.
 */
export const enter = (thread: ThreadChat): (() => void) => {
  thread.shown += 1;
  return () => {
    thread.shown -= 1;
    if (thread.shown > 0) return;
    releaseCalls(thread);
    thread.leaving = thread.chat.stop().catch(() => {});
  };
};

/**
 * Shows the stored messages and follows an active run to its end. The user may send messages at any time.
 * @throws TroupeError, ConnectionLost
 */
export const catchUp = (thread: ThreadChat): Promise<void> => {
  thread.catching ??= follow(thread).finally(() => {
    thread.catching = undefined;
  });
  return thread.catching;
};

const follow = async (thread: ThreadChat, isAgain = false): Promise<void> => {
  // If a page was left and entered again, its previous stream may still be closing.
  await thread.leaving;
  if (!mayWrite(thread)) return;
  const { asking } = thread;
  // The stream is opened before the messages are read: it contains the whole response from its start, which they may
  // lack.
  const live = await openLive(thread);
  const stored = await readStored(thread).catch((error: unknown) => {
    live?.release();
    throw error;
  });
  // The user has left or sent a message in between; everything is read again after its response.
  if (!mayWrite(thread) || thread.asking !== asking) return live?.release();
  const isWhole = show(thread, live ? upToQuestion(stored.messages) : stored.messages);
  if (live) return resume(thread, live);
  const isRunning = stored.status === 'running';
  // A run may have started after its stream was requested; then the last message has no response yet.
  const mayRun = isRunning || stored.messages.at(-1)?.role === 'user';
  if (mayRun && !isAgain) return follow(thread, true);
  // The run has no such stream and is polled.
  if (isRunning) return;
  if (isWhole && thread.chat.error && !(await hasFailed(thread)) && mayWrite(thread))
    thread.chat.clearError();
  thread.isStale = false;
  thread.isWaiting = stored.status === 'waiting';
  thread.seen = stored.record;
  if (thread.isWaiting && mayWrite(thread)) continueRun(thread);
};

/**
 * Opens the stream of the active run, if any, before the chat is notified: the chat treats a missing stream as an end.
 */
const openLive = async ({ chat, connection }: ThreadChat): Promise<Live | undefined> => {
  const leaving = new AbortController();
  const target = path`/v1/ai-sdk/chat/${chat.id}/stream`;
  const response = await send(connection, 'GET', target, { signal: leaving.signal });
  const reader = response.status === 204 ? undefined : response.body?.getReader();
  // The first frame means that the run has started and its message is stored.
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
  return { response: new Response(body, { status, headers }), release: () => leaving.abort() };
};

/** Resolves at the end of the stream, which the chat reports. */
const resume = async (thread: ThreadChat, live: Live): Promise<void> => {
  thread.live = live;
  await thread.chat.resumeStream();
};

/** Returns the messages up to the last user message: the stream contains the rest, which must not appear twice. */
const upToQuestion = (messages: UIMessage[]): UIMessage[] =>
  messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1);

/** @returns whether the service has all messages and decisions of this page */
const show = (thread: ThreadChat, stored: UIMessage[]): boolean => {
  const { chat, unsent } = thread;
  const has = (sent: UIMessage): boolean =>
    stored.some((message) => message.id === sent.id && textOf(message) === textOf(sent));
  const missing = chat.messages.filter((message) => unsent.has(message.id) && !has(message));
  // An edited message takes the place of its original.
  const place = stored.findIndex(({ id }) => id === missing[0]?.id);
  thread.isEdited = place >= 0;
  const known = thread.isEdited ? stored.slice(0, place) : stored;
  const answered = withAnswers(known, chat.messages);
  thread.hasGiven = answered !== known;
  const messages = [...answered, ...missing];
  if (!hasSameText(chat.messages, messages)) chat.messages = messages;
  const open = stored.flatMap(({ parts }) => parts.filter(isOpen));
  releaseCalls(thread, (id) => !open.some((part) => part.toolCallId === id));
  return missing.length === 0 && !thread.hasGiven;
};

/** The run waits for this page: for decisions that were lost in transit, or for its tools. */
const continueRun = (thread: ThreadChat): void => {
  const { chat, hasGiven } = thread;
  const isRefused = chat.error instanceof TroupeError && !(chat.error instanceof Unavailable);
  if (hasGiven && !isRefused && isComplete(chat.messages)) void chat.sendMessage();
  else executeWaiting(thread);
};

/**
 * Compares the messages with the stored ones after a stream has ended, because other clients may have changed them.
 * @throws as `catchUp`
 */
export const settle = async (thread: ThreadChat): Promise<void> => {
  thread.isStale = true;
  // The stream may be the one that `catchUp` follows.
  await thread.catching?.catch(() => {});
  await catchUp(thread);
};

/** Checks whether the thread has changed, and if so, reads it. @throws as `catchUp` */
export const look = async (thread: ThreadChat): Promise<void> => {
  if (!mayWrite(thread)) return;
  if (thread.isStale) return catchUp(thread);
  const { seen } = thread;
  const isSame = await isUnchanged(thread);
  if (!mayWrite(thread) || thread.seen !== seen) return;
  if (!isSame) return catchUp(thread);
  // Another tab that was to execute it may have been closed.
  if (thread.isWaiting) continueRun(thread);
};

/** After a failure, sends the message again if it has no response. @throws as `catchUp` */
export const retry = async (thread: ThreadChat): Promise<void> => {
  await catchUp(thread);
  const { chat, isEdited } = thread;
  const { lastMessage: question } = chat;
  if (isBusy(thread) || question?.role !== 'user') return;
  if (isEdited) await chat.sendMessage({ ...question, messageId: question.id });
  else await chat.regenerate();
};

/** Ends the run and thus its stream. A run that has already ended is not an error. @throws as `catchUp` */
export const stop = async (thread: ThreadChat): Promise<void> => {
  const { asking, chat, connection } = thread;
  await asking;
  await ifThere(call(connection, 'POST', path`/v1/ai-sdk/threads/${chat.id}/cancel`));
  if (!isBusy(thread)) await catchUp(thread);
};
