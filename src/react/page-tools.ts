import { getToolName, isToolUIPart, type UIMessage } from 'ai';
import type { PageTool, ThreadChat } from './thread.ts';

/**
 * Tools that the page executes. A call of one is executed once the run waits for it, also by a page that was loaded
 * since; of several tabs one does it.
 */

type Call = { tool: string; toolCallId: string; input: unknown };

/** Calls that nobody but the client of the run can answer. */
const waitingCalls = (message: UIMessage | undefined): Call[] => {
  if (message?.role !== 'assistant') return [];
  return message.parts.flatMap((part) => {
    if (!isToolUIPart(part) || part.state !== 'input-available' || part.providerExecuted) return [];
    return { tool: getToolName(part), toolCallId: part.toolCallId, input: part.input };
  });
};

/** Begins those of the last message that have not begun. */
export const executeWaiting = (thread: ThreadChat): void => {
  const { chat, begun } = thread;
  const tools = thread.tools();
  for (const call of waitingCalls(chat.lastMessage)) {
    const execute = Object.hasOwn(tools, call.tool) ? tools[call.tool] : undefined;
    if (!execute || begun.has(call.toolCallId)) continue;
    begun.add(call.toolCallId);
    thread.alone(`troupe ${chat.id} ${call.toolCallId}`, () => answer(thread, call, execute));
  }
};

const answer = async (
  { chat }: ThreadChat,
  { tool, toolCallId, input }: Call,
  execute: PageTool,
): Promise<void> => {
  const told = await (async () => execute(input, { toolCallId }))().then(
    (output) => ({ output: output ?? null }),
    (error: unknown) => ({
      state: 'output-error' as const,
      errorText: error instanceof Error ? error.message : String(error),
    }),
  );
  // The user may have said something else meanwhile.
  if (!waitingCalls(chat.lastMessage).some((call) => call.toolCallId === toolCallId)) return;
  // The types of tools are known to the page alone.
  await chat.addToolOutput({ tool, toolCallId, ...told } as Parameters<typeof chat.addToolOutput>[0]);
};
