import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { errorOf } from '../client/errors.ts';
import { withoutTrailing } from '../schema/trailing.ts';
import { settle } from './catch-up.ts';
import { letGoOfCalls } from './page-tools.ts';
import type { ThreadChat, ThreadChatInput } from './thread.ts';
import { isComplete } from './transcript.ts';

/** Functions among what it is made of may be new ones at any time. */
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
      // Once the user has answered, the run that waits goes on.
      sendAutomaticallyWhen: ({ messages }) => messages.at(-1) !== thread.unheard && isComplete(messages),
      onFinish({ isAbort, isDisconnect, isError, finishReason }) {
        // Browsers differ in how they say that a connection broke; a run that failed is no `TypeError`.
        const isCut = isDisconnect || (isError && thread.chat.error instanceof TypeError);
        const isUnheard = isCut || (!isAbort && !isError && finishReason === undefined);
        thread.unheard = isUnheard ? thread.chat.lastMessage : undefined;
        // `error` of the chat says already what went wrong.
        settle(thread).catch(() => {});
      },
    }),
    connection: { url, headers, fetch: (request) => input.fetch(request), pauses: [] },
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
    begun: new Set(),
    held: new Map(),
  };
  return thread;
};

/** What the service refuses is an error of its class; without an answer it is the one of the platform. */
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
    signal?.addEventListener('abort', live.letGo);
    return live.response;
  }
  const said = thread.chat.lastMessage;
  if (said?.role === 'user') unsent.add(said.id);
  const leaving = new AbortController();
  const answered = send(target, { ...init, signal: leaving.signal });
  const asking = answered.catch(() => {});
  thread.asking = asking;
  // What was said arrives, also when the page is left meanwhile.
  signal?.addEventListener('abort', () => void asking.then(() => leaving.abort()));
  const response = await answered;
  if (response.ok) {
    unsent.clear();
    letGoOfCalls(thread);
    return response;
  }
  const address = target instanceof Request ? target.url : target;
  throw await errorOf(`${method} ${new URL(address, 'http://page').pathname}`, response);
};
