'use client';

/**
 * A thread of the service in a React page, with the `useChat` of the AI SDK.
 *
 * `useTroupeChat` returns the messages of a thread and the functions to change it. See guides/chat-and-ag-ui.md.
 *
 * @module troupe/react
 */

import { type Chat, type UseChatHelpers, useChat } from '@ai-sdk/react';
import { generateId, type UIMessage } from 'ai';
import { useEffect, useMemo, useRef, useState } from 'react';
import { createToken, type Token } from '../client/token.ts';
import { type Approval, bindApproval } from './approve.ts';
import { enter, retry, stop } from './catch-up.ts';
import { pollThread } from './poll-thread.ts';
import { withTabLock } from './tab-lock.ts';
import type { ThreadChat, ThreadChatOptions } from './thread.ts';
import { createThreadChat } from './thread-chat.ts';
import { withText } from './transcript.ts';

export { ConnectionLost, TroupeError, Unauthorized, Unavailable } from '../client/errors.ts';
export type { TokenSource } from '../client/token.ts';
export type { Approval } from './approve.ts';
export type { PageTool, PageTools } from './thread.ts';

/**
 * Options of `useTroupeChat`.
 *
 * @example
 * ```ts
 * const options: TroupeChatOptions = {
 *   url: 'http://127.0.0.1:38080',
 *   agentId: 'default',
 *   threadId: 'first',
 *   tools: { readTitle: () => document.title },
 * };
 * ```
 */
export type TroupeChatOptions = Omit<ThreadChatOptions, 'threadId'> & {
  /** Default: a new thread for the lifetime of the page. */
  threadId?: string;
  /**
   * Polling interval in milliseconds for changes by other clients, while the page is visible and idle; 0 disables it.
   * Default: 3000.
   */
  refresh?: number;
  /** Milliseconds between two renders while a response streams; 0 renders each delta. Default: 50. */
  throttle?: number;
};

/**
 * The result of a call from the user of the page. The tool may also be a tool of the service that asks a question. For
 * a call that waits for a permission, a result means denial.
 *
 * @example
 * ```ts
 * const reply = (chat: TroupeChat, toolCallId: string, city: string): void => {
 *   const answer: Answer = { tool: 'askUserQuestion', toolCallId, output: { answer: city } };
 *   chat.answer(answer);
 * };
 * ```
 */
export type Answer = { tool: string; toolCallId: string } & ({ output: unknown } | { error: string });

/**
 * Extends the result of `useChat`; members keep their meaning, except for `stop`, which ends the run on the service.
 *
 * @example
 * ```tsx
 * const Stop = ({ chat }: { chat: TroupeChat }) => (
 *   <button type="button" onClick={chat.stop} disabled={!chat.isBusy}>Stop</button>
 * );
 * ```
 */
export type TroupeChat<Message extends UIMessage = UIMessage> = Omit<
  UseChatHelpers<Message>,
  'stop' | 'addToolResult' | 'addToolApprovalResponse' | 'addToolOutput' | 'resumeStream'
> & {
  /** Id of the thread, which the options give or the page has chosen. */
  threadId: string;
  /** Whether a response is streaming, whichever client requested it. */
  isBusy: boolean;
  /** Whether the stored messages have been read. */
  isLoaded: boolean;
  /** Whether the last message has no response and none is in progress: `retry` sends it again. */
  isUnanswered: boolean;
  /**
   * The last error: an error response of the service is a `TroupeError` (`Unauthorized`, `Unavailable`, …) with its
   * status, an unreachable service a `ConnectionLost` or a `TypeError`, and a failed run an error with its text.
   */
  error: Error | undefined;
  /** Allows a call that waits for approval; the run continues. */
  approve(approval: Approval): void;
  /** Rejects a call that waits for approval; the run continues. */
  deny(approval: Approval): void;
  /** Answers a call; the run continues. */
  answer(answer: Answer): void;
  /** Replaces the text of an earlier message of the user, whose files remain; all later messages are removed. */
  edit(messageId: string, text: string): void;
  /** After a failure, reads the thread and sends the message again if it has no response. */
  retry(): void;
  /** Ends the run on the service, whichever client started it. Its text is kept. */
  stop(): void;
};

/**
 * A chat with an agent whose state is entirely on the service: the page can be reloaded at any time, even during a
 * response, be open in two tabs, and lose and regain its network. Each tab can decide calls that wait for approval.
 *
 * @example
 * ```tsx
 * const Page = () => {
 *   const { messages, sendMessage, isBusy } = useTroupeChat({ url: 'http://127.0.0.1:38080', threadId: 'first' });
 *   return (
 *     <main>
 *       {messages.map(({ id, parts }) => (
 *         <p key={id}>{parts.map((part) => (part.type === 'text' ? part.text : ''))}</p>
 *       ))}
 *       <button type="button" disabled={isBusy} onClick={() => sendMessage({ text: 'Hello' })}>Greet</button>
 *     </main>
 *   );
 * };
 * ```
 */
export const useTroupeChat = <Message extends UIMessage = UIMessage>(
  options: TroupeChatOptions,
): TroupeChat<Message> => {
  const { refresh = 3000, throttle = 50 } = options;
  const thread = useThread(options);
  const {
    addToolApprovalResponse,
    addToolOutput,
    stop: _letGo,
    ...chat
  } = useChat<Message>({
    // The agents determine the types of metadata, data and tools in messages.
    chat: thread.chat as unknown as Chat<Message>,
    // A response may arrive all at once, and React would treat so many renders as an endless loop.
    experimental_throttle: throttle,
  });
  const [problem, setProblem] = useState<Error>();
  const [unseen, setUnseen] = useState<Error>();
  const [loaded, setLoaded] = useState<ThreadChat>();
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';
  // A page that follows a response has the stored messages.
  const isLoaded = loaded === thread || isBusy;

  useEffect(() => {
    const leave = enter(thread);
    const lookAway = pollThread(thread, refresh, (error) => {
      setUnseen(error);
      setLoaded(thread);
    });
    return () => {
      lookAway();
      leave();
    };
  }, [thread, refresh]);

  const attempt = (act: () => Promise<unknown>): void => {
    setProblem(undefined);
    act().catch(setProblem);
  };
  const decide = (approved: boolean) => (approval: Approval) =>
    attempt(async () => {
      const { id, reason } = approval;
      chat.setMessages((messages) => bindApproval(messages, approval));
      await addToolApprovalResponse({ id, approved, ...(reason !== undefined && { reason }) });
    });

  return {
    ...chat,
    threadId: thread.chat.id,
    isBusy,
    isLoaded,
    isUnanswered: isLoaded && !isBusy && chat.messages.at(-1)?.role === 'user',
    error: chat.error ?? problem ?? unseen,
    approve: decide(true),
    deny: decide(false),
    answer: ({ tool, toolCallId, ...given }) =>
      attempt(async () => {
        const result = 'error' in given ? { state: 'output-error', errorText: given.error } : given;
        // Only the page has the types of its tools.
        await addToolOutput({ tool, toolCallId, ...result } as Parameters<typeof addToolOutput>[0]);
      }),
    sendMessage(...message) {
      setProblem(undefined);
      return chat.sendMessage(...message);
    },
    edit: (messageId, text) =>
      attempt(() => {
        const parts = withText(chat.messages.find(({ id }) => id === messageId)?.parts ?? [], text);
        // Text and files are parts of messages with any types of data and tools.
        return chat.sendMessage({ messageId, parts } as Parameters<typeof chat.sendMessage>[0]);
      }),
    retry: () => attempt(() => retry(thread)),
    stop: () => attempt(() => stop(thread)),
  };
};

/** Returns the thread of a page. Functions in the options may change with each render; the chat does not. */
const useThread = (options: TroupeChatOptions): ThreadChat => {
  const { url, agentId } = options;
  const [ownId] = useState(generateId);
  const threadId = options.threadId ?? ownId;
  const latest = useRef(options);
  latest.current = options;
  // A page may create the function with each render; the token that it has returned remains in use.
  const [renewed] = useState(() => createToken(() => tokenOf(latest.current)));
  return useMemo(
    () =>
      createThreadChat({
        threadId,
        ...(url !== undefined && { url }),
        ...(agentId !== undefined && { agentId }),
        token: () => tokenNow(latest.current, renewed),
        headers() {
          const { headers = {} } = latest.current;
          return typeof headers === 'function' ? headers() : headers;
        },
        fetch: (input, init) => (latest.current.fetch ?? fetch)(input, init),
        tools: () => latest.current.tools ?? {},
        alone: withTabLock,
      }),
    [url, threadId, agentId, renewed],
  );
};

/** @throws TypeError for an invalid text */
const tokenNow = ({ token }: TroupeChatOptions, renewed: Token): Token | undefined =>
  typeof token === 'string' ? createToken(token) : token && renewed;

const tokenOf = ({ token = '' }: TroupeChatOptions): string | Promise<string> =>
  typeof token === 'function' ? token() : token;
