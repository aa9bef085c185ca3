import { Chat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import { errorOf } from '../client/errors.ts';
import { settle } from './catch-up.ts';
import type { ThreadChat, ThreadChatInput } from './thread.ts';

/** Functions among what it is made of may be new ones at any time. */
export const createThreadChat = (input: ThreadChatInput): ThreadChat => {
  const { threadId, agentId, headers } = input;
  const url = (input.url ?? '').replace(/\/+$/, '');
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
      sendAutomaticallyWhen: (options) =>
        options.messages.at(-1) !== thread.unheard &&
        (lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
          lastAssistantMessageIsCompleteWithToolCalls(options)),
      onFinish({ isAbort, isDisconnect, isError, finishReason }) {
        // Browsers differ in how they say that a connection broke; a run that failed is no `TypeError`.
        const isCut = isDisconnect || (isError && thread.chat.error instanceof TypeError);
        const isUnheard = isCut || (!isAbort && !isError && finishReason === undefined);
        thread.unheard = isUnheard ? thread.chat.lastMessage : undefined;
        thread.isStale ||= isUnheard;
        // `error` of the chat says already what went wrong.
        if (!isAbort) settle(thread, finishReason === 'tool-calls').catch(() => {});
      },
    }),
    connection: { url, headers, fetch: (request) => input.fetch(request), pauses: [] },
    tools: input.tools,
    alone: input.alone,
    shown: 0,
    asking: undefined,
    catching: undefined,
    live: undefined,
    isStale: true,
    unheard: undefined,
    seen: undefined,
    begun: new Set(),
  };
  return thread;
};

/** What the service refuses is an error of its class; without an answer it is the one of the platform. */
const ask = async (
  thread: Pick<ThreadChat, 'asking' | 'live'>,
  send: typeof fetch,
  target: Parameters<typeof fetch>[0],
  init: RequestInit = {},
): Promise<Response> => {
  const { method = 'GET' } = init;
  const { live } = thread;
  if (method === 'GET' && live) {
    thread.live = undefined;
    init.signal?.addEventListener('abort', live.letGo);
    return live.response;
  }
  const answered = send(target, init);
  if (method === 'POST') thread.asking = answered.catch(() => {});
  const response = await answered;
  if (response.ok) return response;
  const address = target instanceof Request ? target.url : target;
  throw await errorOf(`${method} ${new URL(address, 'http://page').pathname}`, response);
};
