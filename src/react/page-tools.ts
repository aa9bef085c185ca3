import { getToolName, type UIMessage } from 'ai';
import { isUnchanged } from './stored.ts';
import type { PageTool, ThreadChat } from './thread.ts';
import { isOpen } from './transcript.ts';

/**
 * Tools that the page executes. A call of one is executed once the run waits for it, also by a page that was loaded
 * since; of several tabs one does it.
 */

type Call = { tool: string; toolCallId: string; input: unknown };

/** Calls that nobody but the client of the run can answer. */
const waitingCalls = (message: UIMessage | undefined): Call[] =>
  (message?.parts ?? []).flatMap((part) => {
    if (!isOpen(part) || part.state !== 'input-available') return [];
    return { tool: getToolName(part), toolCallId: part.toolCallId, input: part.input };
  });

/** Executes those of the last message that nobody executes. */
export const executeWaiting = (thread: ThreadChat): void => {
  const { chat, begun } = thread;
  const tools = thread.tools();
  for (const call of waitingCalls(chat.lastMessage)) {
    const execute = Object.hasOwn(tools, call.tool) ? tools[call.tool] : undefined;
    if (execute && !begun.has(call.toolCallId))
      thread.alone(`troupe ${chat.id} ${call.toolCallId}`, () => begin(thread, call, execute));
  }
};

const begin = async (thread: ThreadChat, call: Call, execute: PageTool): Promise<void> => {
  const { begun } = thread;
  if (begun.has(call.toolCallId)) return;
  begun.add(call.toolCallId);
  // The tab that was here first may have answered.
  const isOurs = await isUnchanged(thread).catch(() => false);
  if (isOurs) return answer(thread, call, execute);
  begun.delete(call.toolCallId);
};

/** Ends when the service has the answer: before that, no other tab is to begin. */
const answer = async (
  { chat, held }: ThreadChat,
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
  const taken = new Promise<void>((letGo) => held.set(toolCallId, letGo));
  // The types of tools are known to the page alone.
  await chat.addToolOutput({ tool, toolCallId, ...told } as Parameters<typeof chat.addToolOutput>[0]);
  await taken;
};

/** The service has the answers to these calls, or this page is left: another tab may see to them. */
export const letGoOfCalls = (
  { held }: ThreadChat,
  which: (toolCallId: string) => boolean = () => true,
): void => {
  for (const [toolCallId, letGo] of held) {
    if (!which(toolCallId)) continue;
    held.delete(toolCallId);
    letGo();
  }
};
