import { Chat, type UseChatHelpers, useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { backendUrl } from '../data/request.ts';
import { chatFetch } from './fetch.ts';
import { DRAW_MS, type Talk } from './talk.ts';
import { useStop } from './use-stop.ts';

/** A chat that lives in this page, over a route that receives the whole conversation with each request. */

export type RunChat = Chat<UIMessage>;

export type Sent = { messages: UIMessage[]; trigger: string; messageId: string | undefined };

/** @param body returns further fields of the request, evaluated when it is sent */
export const createRunChat = (id: string, path: string, body: (sent: Sent) => object): RunChat => {
  const chat: RunChat = new Chat<UIMessage>({
    id,
    transport: new DefaultChatTransport<UIMessage>({
      api: `${backendUrl()}${path}`,
      fetch: (input, init) => {
        const question = ask(input, init);
        questions.set(chat, question.answered);
        return question.heard;
      },
      prepareSendMessagesRequest: ({ messages, trigger, messageId }) => ({
        body: body({ messages, trigger, messageId }),
      }),
    }),
    // The suspended run continues once the user has decided on every call.
    sendAutomaticallyWhen: (options) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
      lastAssistantMessageIsCompleteWithToolCalls(options),
  });
  return chat;
};

/** The last request of each chat. It settles when the service has responded, so that the run exists or will not. */
const questions = new WeakMap<RunChat, Promise<unknown>>();

export const lastQuestion = (chat: RunChat): Promise<unknown> => questions.get(chat) ?? Promise.resolve();

type Question = { heard: Promise<Response>; answered: Promise<unknown> };

/**
 * Sends a request that survives an abort before its response arrives. Its run is not reported yet, so it could not be
 * cancelled and would continue without a reader. The request is aborted as soon as the response has started.
 */
const ask = (input: Parameters<typeof fetch>[0], init: RequestInit = {}): Question => {
  const { signal } = init;
  const own = new AbortController();
  const response = chatFetch(input, { ...init, signal: own.signal });
  const hangUp = (): void => own.abort();
  const heard = new Promise<Response>((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
    response.then(resolve, reject);
  });
  const answered = response.then(
    () => (signal?.aborted ? hangUp() : signal?.addEventListener('abort', hangUp)),
    () => {},
  );
  return { heard, answered };
};

type Acts = Pick<
  UseChatHelpers<UIMessage>,
  'messages' | 'status' | 'error' | 'sendMessage' | 'regenerate' | 'addToolApprovalResponse' | 'addToolOutput'
>;

/** @param options returns options of each request, such as further fields of its body */
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
    decide: (id, approved, reason) =>
      void chat.addToolApprovalResponse({ id, approved, ...(reason && { reason }) }),
    answer: ({ tool, toolCallId, ...given }) =>
      void chat.addToolOutput(
        'output' in given
          ? { tool, toolCallId, output: given.output }
          : { tool, toolCallId, state: 'output-error', errorText: given.errorText },
      ),
    edit: (messageId, text, files) => void chat.sendMessage({ messageId, text, files }, options?.()),
    again: () => void chat.regenerate(options?.()),
  };
};

/** @param onStop called in addition to closing the stream */
export const useRunChat = (chat: RunChat, onStop?: () => void): Talk => {
  const helpers = useChat<UIMessage>({ chat, experimental_throttle: DRAW_MS });
  const talk = talkOf(helpers, {
    stop() {
      void helpers.stop();
      onStop?.();
    },
  });
  return { ...talk, ...useStop(talk.isBusy, talk.stop) };
};
