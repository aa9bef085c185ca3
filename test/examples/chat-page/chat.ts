import { Chat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';

/**
 * One thread of the service as a chat of the AI SDK, by its stock transport. The thread is part of the address of the
 * page, so that loading the page again shows it again: what is stored from the history, and a run that is under way
 * from its stream, which begins at the beginning of the answer. Closing the page cancels nothing; `stop` does.
 */

const query = new URLSearchParams(location.search);

const newThread = (): string => {
  const id = crypto.randomUUID();
  query.set('thread', id);
  history.replaceState(null, '', `?${query}`);
  return id;
};

export const address = {
  service: query.get('service') ?? 'http://127.0.0.1:38080',
  agentId: query.get('agent') ?? 'default',
  thread: query.get('thread') ?? newThread(),
};

export const chat: Chat<UIMessage> = new Chat({
  id: address.thread,
  transport: new DefaultChatTransport({
    api: `${address.service}/v1/ai-sdk/chat`,
    body: { agentId: address.agentId },
  }),
  // Once the user has answered, the run that waits goes on.
  sendAutomaticallyWhen: (options) =>
    lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
    lastAssistantMessageIsCompleteWithToolCalls(options),
  onFinish({ isDisconnect }) {
    if (isDisconnect) catchUp().catch(() => {}); // `error` of the chat says so already
  },
});

const request = async (path: string, init?: RequestInit) => {
  const response = await fetch(address.service + path, init);
  const body = await response.json();
  if (!response.ok) throw new Error(body.error);
  return body;
};

const thread = encodeURIComponent(address.thread);

const stored = async (): Promise<UIMessage[]> => {
  // In this order: a run that ends in between is looked at again.
  const { active_run } = await request(`/v1/threads/${thread}/runs/active`);
  const { messages } = await request(`/v1/ai-sdk/threads/${thread}/messages?order=desc&limit=200`);
  messages.reverse();
  if (active_run?.status !== 'running') return messages;
  // The stream tells its steps from the beginning, or from the last approval on; they are not to be there twice.
  return messages.slice(0, messages.findLastIndex(({ role }: UIMessage) => role === 'user') + 1);
};

/** An answer is on its way to this page; nothing else may write its messages. */
const isBusy = (): boolean => chat.status === 'submitted' || chat.status === 'streaming';

/** Shows what is stored, and follows what is under way. The user may say something at any time meanwhile. */
export const catchUp = async (): Promise<void> => {
  if (isBusy()) return;
  await showStored();
  if (isBusy()) return;
  await chat.resumeStream();
  // The run may have ended in between, and then there was no stream.
  if (chat.lastMessage?.role === 'user') await showStored();
};

const showStored = async (): Promise<void> => {
  const messages = await stored();
  if (isBusy()) return;
  const last = chat.lastMessage;
  const isSent = last?.role !== 'user' || messages.some(({ id }) => id === last.id);
  chat.messages = isSent ? messages : [...messages, last];
};

/** After a failure: asks again, if the question has no answer. */
export const retry = async (): Promise<void> => {
  await catchUp();
  if (chat.lastMessage?.role === 'user') await chat.regenerate();
};

/** The run ends, and with it its stream. */
export const stop = async (): Promise<void> => {
  await request(`/v1/ai-sdk/threads/${thread}/cancel`, { method: 'POST' });
};

/** Calls now, when the page is looked at again, and when there is a network again; returns how to end that. */
export const onVisible = (act: () => void): (() => void) => {
  const look = () => {
    if (document.visibilityState === 'visible') act();
  };
  look();
  document.addEventListener('visibilitychange', look);
  window.addEventListener('online', look);
  return () => {
    document.removeEventListener('visibilitychange', look);
    window.removeEventListener('online', look);
  };
};
