/** `troupe/react`: a thread of the service in a page of React, by the `useChat` of the AI SDK. */

import { type UseChatHelpers, useChat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { useEffect, useMemo, useRef, useState } from 'react';
import { createThreadChat, type ThreadChatOptions } from './thread-chat.ts';

export type TroupeChatOptions<Message extends UIMessage = UIMessage> = ThreadChatOptions<Message> & {
  /** Milliseconds between two renders while an answer comes; left out, each delta is one. */
  throttle?: number;
};

/** What somebody has decided about a call that waits for approval. */
export type Approval = {
  /** Of the `approval` of its part. */
  id: string;
  reason?: string;
};

/** Beside what `useChat` gives: the same names mean the same, but for `stop`, which ends the run on the service. */
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
  /** What went wrong last, with a stream, with a decision, or while looking for what is stored. */
  error: Error | undefined;
  approve(approval: Approval): void;
  deny(approval: Approval): void;
  /** What a tool of the page has given: its run goes on. */
  answer(result: { tool: string; toolCallId: string; output: unknown }): void;
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
  options: TroupeChatOptions<Message>,
): TroupeChat<Message> => {
  const { url, threadId, agentId, throttle } = options;
  // Functions may be new ones with each render; the chat is not.
  const latest = useRef(options);
  latest.current = options;
  const thread = useMemo(
    () =>
      createThreadChat<Message>({
        ...(url !== undefined && { url }),
        threadId,
        ...(agentId !== undefined && { agentId }),
        headers: () => latest.current.headers?.() ?? {},
        fetch: (input, init) => (latest.current.fetch ?? fetch)(input, init),
        onToolCall: (call) => latest.current.onToolCall?.(call),
      }),
    [url, threadId, agentId],
  );
  const { addToolApprovalResponse, addToolOutput, ...chat } = useChat<Message>({
    chat: thread.chat,
    ...(throttle !== undefined && { experimental_throttle: throttle }),
  });
  const [problem, setProblem] = useState<Error>();
  const [loaded, setLoaded] = useState<typeof thread>();
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';
  const isLoaded = loaded === thread;

  const attempt = (act: () => Promise<unknown>): void => {
    setProblem(undefined);
    act().catch(setProblem);
  };

  // Also on the way back from another tab, in which the conversation may have gone on.
  useEffect(() => {
    const leave = thread.enter();
    const unwatch = onVisible(() => {
      thread
        .catchUp()
        .then(() => setProblem(undefined), setProblem)
        .finally(() => setLoaded(thread));
    });
    return () => {
      unwatch();
      leave();
    };
  }, [thread]);

  return {
    ...chat,
    threadId,
    isBusy,
    isLoaded,
    isUnanswered: isLoaded && !isBusy && chat.messages.at(-1)?.role === 'user',
    error: chat.error ?? problem,
    approve: (approval) => attempt(async () => addToolApprovalResponse({ ...approval, approved: true })),
    deny: (approval) => attempt(async () => addToolApprovalResponse({ ...approval, approved: false })),
    // The types of tools are known to the page alone.
    answer: (result) => attempt(async () => addToolOutput(result as Parameters<typeof addToolOutput>[0])),
    edit: (messageId, text) => attempt(() => chat.sendMessage({ messageId, text })),
    retry: () => attempt(thread.retry),
    stop: () => attempt(thread.stop),
  };
};

/** Calls now, when the page is looked at again, and when there is a network again; returns how to end that. */
const onVisible = (act: () => void): (() => void) => {
  const look = (): void => {
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
