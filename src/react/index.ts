'use client';

/** `troupe/react`: a thread of the service in a page of React, by the `useChat` of the AI SDK. */

import { type Chat, type UseChatHelpers, useChat } from '@ai-sdk/react';
import { generateId, type UIMessage } from 'ai';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type Approval, bindApproval } from './approve.ts';
import { enter, retry, stop } from './catch-up.ts';
import { lookOut } from './look-out.ts';
import { inOneTab } from './one-tab.ts';
import type { ThreadChat, ThreadChatOptions } from './thread.ts';
import { createThreadChat } from './thread-chat.ts';

export { ConnectionLost, TroupeError, Unauthorized, Unavailable } from '../client/errors.ts';
export type { Approval } from './approve.ts';
export type { PageTool, PageTools } from './thread.ts';

/**
 * What `useTroupeChat` is called with.
 *
 * @example
 * const options: TroupeChatOptions = { url: 'http://127.0.0.1:38080', agentId: 'default', threadId: 'first' };
 */
export type TroupeChatOptions = Omit<ThreadChatOptions, 'threadId'> & {
  /** Left out, a new thread for as long as the page is there. */
  threadId?: string;
  /**
   * Milliseconds between two looks at what others may have done on the thread, while the page is looked at and nothing
   * is under way; 0 for none. Default: 3000.
   */
  refresh?: number;
  /** Milliseconds between two renders while an answer comes. Default: 50. With 0 each delta is one. */
  throttle?: number;
};

/**
 * The result of a call, as the user has given it in the page. The tool may also be one of the service that asks a
 * question; a call that waits for a permission is denied by it.
 *
 * @example
 * const answer: Answer = { tool: 'askUserQuestion', toolCallId: part.toolCallId, output: { answer: 'Tokyo' } };
 */
export type Answer = { tool: string; toolCallId: string } & ({ output: unknown } | { error: string });

/**
 * Beside what `useChat` gives: the same names mean the same, but for `stop`, which ends the run on the service.
 *
 * @example
 * const Stop = ({ chat }: { chat: TroupeChat }) => <button onClick={chat.stop} disabled={!chat.isBusy}>Stop</button>;
 */
export type TroupeChat<Message extends UIMessage = UIMessage> = Omit<
  UseChatHelpers<Message>,
  'stop' | 'addToolResult' | 'addToolApprovalResponse' | 'addToolOutput' | 'resumeStream'
> & {
  threadId: string;
  /** An answer is under way, whoever asked for it. */
  isBusy: boolean;
  /** What is stored has been looked for. */
  isLoaded: boolean;
  /** The last thing said is a question, and nothing is under way that would answer it: `retry` asks again. */
  isUnanswered: boolean;
  /**
   * What went wrong last: what the service refused is a `TroupeError` (`Unauthorized`, `Unavailable`, …) with its
   * status, who could not be reached a `ConnectionLost` or a `TypeError`, and a run that failed an error with its text.
   */
  error: Error | undefined;
  approve(approval: Approval): void;
  deny(approval: Approval): void;
  /** The run goes on with it. */
  answer(answer: Answer): void;
  /** Says something else instead of an earlier message of the user; what came behind it is gone. */
  edit(messageId: string, text: string): void;
  /** After a failure: looks at what there is, and asks again if the question has no answer. */
  retry(): void;
  /** Ends the run on the service, whoever started it. What it has said stays. */
  stop(): void;
};

/**
 * A chat with an agent, all of which is on the service: it may be loaded again at any time, in the middle of an answer
 * too, be open in two tabs, lose its network and find it again. Calls that wait for approval go on from any of them.
 *
 * @example
 * const { messages, sendMessage, isBusy, stop } = useTroupeChat({ url: 'http://127.0.0.1:38080', threadId: 'first' });
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
    // What a page knows of its messages (metadata, data, tools) is what its agents make them of.
    chat: thread.chat as unknown as Chat<Message>,
    // An answer may come all at once: React takes so many renders for an endless loop.
    experimental_throttle: throttle,
  });
  const [problem, setProblem] = useState<Error>();
  const [unseen, setUnseen] = useState<Error>();
  const [loaded, setLoaded] = useState<ThreadChat>();
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';
  // Whoever follows an answer has seen what is stored.
  const isLoaded = loaded === thread || isBusy;

  useEffect(() => {
    const leave = enter(thread);
    const lookAway = lookOut(thread, refresh, (error) => {
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
    answer: ({ tool, toolCallId, ...told }) =>
      attempt(async () => {
        const result = 'error' in told ? { state: 'output-error', errorText: told.error } : told;
        // The types of tools are known to the page alone.
        await addToolOutput({ tool, toolCallId, ...result } as Parameters<typeof addToolOutput>[0]);
      }),
    sendMessage(...message) {
      setProblem(undefined);
      return chat.sendMessage(...message);
    },
    edit: (messageId, text) => attempt(() => chat.sendMessage({ messageId, text })),
    retry: () => attempt(() => retry(thread)),
    stop: () => attempt(() => stop(thread)),
  };
};

/** The thread of a page. Functions among the options may be new ones with each render; the chat is not. */
const useThread = (options: TroupeChatOptions): ThreadChat => {
  const { url, agentId } = options;
  const [ownId] = useState(generateId);
  const threadId = options.threadId ?? ownId;
  const latest = useRef(options);
  latest.current = options;
  return useMemo(
    () =>
      createThreadChat({
        threadId,
        ...(url !== undefined && { url }),
        ...(agentId !== undefined && { agentId }),
        headers() {
          const { headers = {} } = latest.current;
          return typeof headers === 'function' ? headers() : headers;
        },
        fetch: (input, init) => (latest.current.fetch ?? fetch)(input, init),
        tools: () => latest.current.tools ?? {},
        alone: inOneTab,
      }),
    [url, threadId, agentId],
  );
};
