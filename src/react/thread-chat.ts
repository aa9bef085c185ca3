import { Chat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { type Connection, call, path } from '../client/connection.ts';

/**
 * One thread of the service as a chat of the AI SDK, by its stock transport: what is stored comes from the history, and
 * a run that is under way from its stream, which begins at the beginning of the answer. Leaving cancels nothing.
 */

export type ThreadChatOptions<Message extends UIMessage> = {
  /** Address of the service, such as `http://127.0.0.1:38080`; left out, that of the page. */
  url?: string;
  threadId: string;
  /** Who answers; left out, the agent of the thread, or `default`. */
  agentId?: string;
  /** Of each request, such as `authorization`. */
  headers?: () => Record<string, string>;
  fetch?: typeof fetch;
  /** For tools that the page executes: called for each call of one; what it gives to `answer` is the result. */
  onToolCall?: ConstructorParameters<typeof Chat<Message>>[0]['onToolCall'];
};

export type ThreadChat<Message extends UIMessage> = {
  chat: Chat<Message>;
  /** From now on the chat is shown. Returns how to end that: its stream is let go, and the run goes on. */
  enter(): () => void;
  /**
   * Shows what is stored, and follows what is under way. The user may say something at any time meanwhile.
   * @throws TroupeError, ConnectionLost
   */
  catchUp(): Promise<void>;
  /** After a failure: asks again, if the question has no answer. @throws as `catchUp` */
  retry(): Promise<void>;
  /** Ends the run, and with it its stream. @throws as `catchUp` */
  stop(): Promise<void>;
};

export const createThreadChat = <Message extends UIMessage>({
  url = '',
  threadId,
  agentId,
  headers = () => ({}),
  fetch: ask = (input, init) => fetch(input, init),
  onToolCall,
}: ThreadChatOptions<Message>): ThreadChat<Message> => {
  const base = url.replace(/\/+$/, '');
  // A request needs a whole address.
  const here: Connection = { url: base || location.origin, headers, fetch: ask, pauses: [] };
  let shown = 0;
  let catching: Promise<void> | undefined;

  const chat: Chat<Message> = new Chat<Message>({
    id: threadId,
    transport: new DefaultChatTransport<Message>({
      api: `${base}/v1/ai-sdk/chat`,
      headers,
      fetch: ask,
      ...(agentId !== undefined && { body: { agentId } }),
    }),
    ...(onToolCall && { onToolCall }),
    // Once the user has answered, the run that waits goes on.
    sendAutomaticallyWhen: (options) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
      lastAssistantMessageIsCompleteWithToolCalls(options),
    onFinish({ isDisconnect }) {
      if (isDisconnect) catchUp().catch(() => {}); // `error` of the chat says so already
    },
  });

  const stored = async (): Promise<Message[]> => {
    type Active = { active_run: { status: string } | null };
    // In this order: a run that ends in between is looked at again.
    const { active_run } = await call<Active>(here, 'GET', path`/v1/threads/${threadId}/runs/active`);
    const { messages } = await call<{ messages: Message[] }>(
      here,
      'GET',
      path`/v1/ai-sdk/threads/${threadId}/messages`,
      { query: { order: 'desc', limit: 200 } },
    );
    messages.reverse();
    if (active_run?.status !== 'running') return messages;
    // The stream tells its steps from the beginning, or from the last approval on; they are not to be there twice.
    return messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1);
  };

  /** An answer is on its way to this page; nothing else may write its messages. */
  const isBusy = (): boolean => chat.status === 'submitted' || chat.status === 'streaming';
  const mayWrite = (): boolean => shown > 0 && !isBusy();

  const showStored = async (): Promise<void> => {
    const messages = await stored();
    if (!mayWrite()) return;
    const last = chat.lastMessage;
    const isSent = last?.role !== 'user' || messages.some(({ id }) => id === last.id);
    chat.messages = isSent ? messages : [...messages, last];
  };

  const follow = async (): Promise<void> => {
    if (!mayWrite()) return;
    await showStored();
    if (!mayWrite()) return;
    await chat.resumeStream();
    // The run may have ended in between, and then there was no stream.
    if (chat.lastMessage?.role === 'user') await showStored();
  };

  /** Whoever asks meanwhile gets the same. */
  const catchUp = (): Promise<void> => {
    catching ??= follow().finally(() => {
      catching = undefined;
    });
    return catching;
  };

  return {
    chat,
    enter() {
      shown += 1;
      return () => {
        shown -= 1;
        if (shown === 0) chat.stop();
      };
    },
    catchUp,
    async retry() {
      await catchUp();
      if (chat.lastMessage?.role === 'user') await chat.regenerate();
    },
    async stop() {
      await call(here, 'POST', path`/v1/ai-sdk/threads/${threadId}/cancel`);
    },
  };
};
