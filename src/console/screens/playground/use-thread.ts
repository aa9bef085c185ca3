import { useTroupeChat } from '../../../react/index.ts';
import { tokenFetch } from '../../chat/fetch.ts';
import type { Talk } from '../../chat/talk.ts';
import { backendUrl } from '../../data/request.ts';
import { type ClientTool, declared, executors } from './client-tools.ts';

/** A thread of the service as a conversation; tools of the page go with each message. */
export const useThread = (options: {
  agentId: string;
  threadId: string;
  tools: readonly ClientTool[];
  /** Before something is said. */
  onSend(): void;
}): Talk & { isLoaded: boolean } => {
  const { agentId, threadId, tools, onSend } = options;
  const chat = useTroupeChat({
    url: backendUrl(),
    agentId,
    threadId,
    fetch: tokenFetch,
    tools: executors(tools),
  });
  const body = { tools: declared(tools) };
  return {
    messages: chat.messages,
    isBusy: chat.isBusy,
    isLoaded: chat.isLoaded,
    error: chat.error,
    send(text, files) {
      onSend();
      void chat.sendMessage({ text, files }, { body });
    },
    stop: chat.stop,
    decide: (id, approved, reason) =>
      approved ? chat.approve({ id }) : chat.deny({ id, ...(reason && { reason }) }),
    answer: ({ tool, toolCallId, ...given }) =>
      chat.answer({
        tool,
        toolCallId,
        ...('output' in given ? { output: given.output } : { error: given.errorText }),
      }),
    edit: (messageId, text) => void chat.sendMessage({ messageId, text }, { body }),
    again: () => (chat.isUnanswered ? chat.retry() : void chat.regenerate({ body })),
  };
};
