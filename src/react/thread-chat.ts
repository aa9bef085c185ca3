import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { withToken } from '../client/connection.ts';
import { readError } from '../client/errors.ts';
import { withoutTrailing } from '../schema/trailing.ts';
import { settle } from './catch-up.ts';
import { releaseCalls } from './page-tools.ts';
import type { ThreadChat, ThreadChatInput } from './thread.ts';
import { isComplete } from './transcript.ts';

/** Creates the chat of a thread. Functions in the input may change at any time. */
export const createThreadChat = (input: ThreadChatInput): ThreadChat => {
  const { threadId, agentId, headers } = input;
  const url = withoutTrailing(input.url ?? '', '/');
  const thread: ThreadChat = {
    chat: new Chat({
      id: threadId,
      transport: new DefaultChatTransport({
        api: `${url}/v1/ai-sdk/chat`,
        headers,
        fetch: (target, init) => ask(thread, input.fetch, target, init),
        ...(agentId !== undefined && { body: { agentId } }),
      }),
      // The waiting run continues once the user has decided.
      sendAutomaticallyWhen: ({ messages }) => messages.at(-1) !== thread.unheard && isComplete(messages),
      onFinish({ isAbort, isDisconnect, isError, finishReason }) {
        // Browsers report a broken connection differently; a failed run is not a `TypeError`.
        const isCut = isDisconnect || (isError && thread.chat.error instanceof TypeError);
        const isUnheard = isCut || (!isAbort && !isError && finishReason === undefined);
        thread.unheard = isUnheard ? thread.chat.lastMessage : undefined;
        // The `error` of the chat already contains the failure.
        settle(thread).catch(() => {});
      },
    }),
    connection: {
      url,
      headers,
      get token() {
        return input.token?.();
      },
      fetch: (request) => input.fetch(request),
      pauses: [],
    },
    tools: input.tools,
    alone: input.alone,
    shown: 0,
    asking: undefined,
    catching: undefined,
    unsent: new Set(),
    isEdited: false,
    leaving: undefined,
    live: undefined,
    isStale: true,
    isWaiting: false,
    hasGiven: false,
    unheard: undefined,
    seen: undefined,
    started: new Set(),
    held: new Map(),
  };
  return thread;
};

/** Throws the error class of an error response; without a response, the error of the platform. */
const ask = async (
  thread: ThreadChat,
  send: typeof fetch,
  target: Parameters<typeof fetch>[0],
  init: RequestInit = {},
): Promise<Response> => {
  const { method = 'GET', signal } = init;
  const { live, unsent } = thread;
  if (method === 'GET' && live) {
    thread.live = undefined;
    signal?.addEventListener('abort', live.release);
    return live.response;
  }
  const lastMessage = thread.chat.lastMessage;
  if (lastMessage?.role === 'user') unsent.add(lastMessage.id);
  const leaving = new AbortController();
  const answered = sendWithToken(thread, send, target, { ...init, signal: leaving.signal });
  const asking = answered.catch(() => {});
  thread.asking = asking;
  // A sent message arrives even if the page is left.
  signal?.addEventListener('abort', () => void asking.then(() => leaving.abort()));
  const response = await answered;
  if (response.ok) {
    unsent.clear();
    releaseCalls(thread);
    return response;
  }
  const address = target instanceof Request ? target.url : target;
  throw await readError(`${method} ${new URL(address, 'http://page').pathname}`, response);
};

const sendWithToken = async (
  { connection }: ThreadChat,
  send: typeof fetch,
  target: Parameters<typeof fetch>[0],
  init: RequestInit,
): Promise<Response> =>
  withToken(connection.token, (token) => {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    return send(target, { ...init, headers });
  });
