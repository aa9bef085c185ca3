import { useTroupeChat } from '../../react/index.ts';
import { backendUrl } from '../data/request.ts';
import { type ClientTool, declared, executors } from './client-tools.ts';
import { tokenFetch } from './fetch.ts';
import type { Talk } from './talk.ts';
import { useStop } from './use-stop.ts';

/** A thread of the service as a conversation. The client tools are declared with each message. */
export const useThread = (options: {
  agentId: string;
  threadId: string;
  tools: readonly ClientTool[];
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
  const stopping = useStop(chat.isBusy, chat.stop);
  return {
    messages: chat.messages,
    isBusy: chat.isBusy,
    isLoaded: chat.isLoaded,
    error: chat.error,
    send(text, files) {
      onSend();
      void chat.sendMessage({ text, files }, { body });
    },
    ...stopping,
    decide: (id, approved, reason) =>
      approved ? chat.approve({ id }) : chat.deny({ id, ...(reason && { reason }) }),
    answer: ({ tool, toolCallId, ...given }) =>
      chat.answer({
        tool,
        toolCallId,
        ...('output' in given ? { output: given.output } : { error: given.errorText }),
      }),
    edit: (messageId, text, files) => void chat.sendMessage({ messageId, text, files }, { body }),
    again: () => (chat.isUnanswered ? chat.retry() : void chat.regenerate({ body })),
  };
};
