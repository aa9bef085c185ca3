import { Chat, type UseChatHelpers, useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { backendUrl } from '../data/request.ts';
import { chatFetch } from './fetch.ts';
import type { Talk } from './talk.ts';

/** A chat that lives in this page, over a route that takes the whole conversation each time. */

export type RunChat = Chat<UIMessage>;

export type Sent = { messages: UIMessage[]; trigger: string; messageId: string | undefined };

/** @param body what goes with the messages, as it is when they are sent */
export const createRunChat = (id: string, path: string, body: (sent: Sent) => object): RunChat =>
  new Chat<UIMessage>({
    id,
    transport: new DefaultChatTransport<UIMessage>({
      api: `${backendUrl()}${path}`,
      fetch: chatFetch,
      prepareSendMessagesRequest: ({ messages, trigger, messageId }) => ({
        body: body({ messages, trigger, messageId }),
      }),
    }),
    // Once the user has decided, the run that waits goes on.
    sendAutomaticallyWhen: (options) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
      lastAssistantMessageIsCompleteWithToolCalls(options),
  });

type Acts = Pick<
  UseChatHelpers<UIMessage>,
  'messages' | 'status' | 'error' | 'sendMessage' | 'regenerate' | 'addToolApprovalResponse' | 'addToolOutput'
>;

/** @param options of each request, such as more for its body */
export const talkOf = (
  chat: Acts,
  { stop, options }: { stop(): void; options?: (() => { body: object }) | undefined },
): Talk => {
  const { messages, status, error } = chat;
  return {
    messages,
    isBusy: status === 'submitted' || status === 'streaming',
    error,
    send: (text, files) => void chat.sendMessage({ text, files }, options?.()),
    stop,
    decide: (id, approved) => void chat.addToolApprovalResponse({ id, approved }),
    answer: ({ tool, toolCallId, ...given }) =>
      void chat.addToolOutput(
        'output' in given
          ? { tool, toolCallId, output: given.output }
          : { tool, toolCallId, state: 'output-error', errorText: given.errorText },
      ),
    edit: (messageId, text) => void chat.sendMessage({ messageId, text }, options?.()),
    again: () => void chat.regenerate(options?.()),
  };
};

/** @param onStop beside that the page stops listening */
export const useRunChat = (chat: RunChat, onStop?: () => void): Talk => {
  const helpers = useChat<UIMessage>({ chat });
  return talkOf(helpers, {
    stop() {
      void helpers.stop();
      onStop?.();
    },
  });
};
