import { getToolName, type UIMessage } from 'ai';
import { isUnchanged } from './stored.ts';
import type { PageTool, ThreadChat } from './thread.ts';
import { isOpen } from './transcript.ts';

/**
 * Tools that the page executes. A call is executed once the run waits for it, even by a page that was loaded later; of
 * several tabs, one executes it.
 */

type Call = { tool: string; toolCallId: string; input: unknown };

/** Returns calls that only the client of the run can execute. */
const waitingCalls = (message: UIMessage | undefined): Call[] =>
  (message?.parts ?? []).flatMap((part) => {
    if (!isOpen(part) || part.state !== 'input-available') return [];
    return { tool: getToolName(part), toolCallId: part.toolCallId, input: part.input };
  });

/** Executes calls of the last message that are not being executed. */
export const executeWaiting = (thread: ThreadChat): void => {
  const { chat, started } = thread;
  const tools = thread.tools();
  for (const call of waitingCalls(chat.lastMessage)) {
    const execute = Object.hasOwn(tools, call.tool) ? tools[call.tool] : undefined;
    if (execute && !started.has(call.toolCallId))
      thread.alone(`troupe ${chat.id} ${call.toolCallId}`, () => begin(thread, call, execute));
  }
};

const begin = async (thread: ThreadChat, call: Call, execute: PageTool): Promise<void> => {
  const { started } = thread;
  if (started.has(call.toolCallId)) return;
  started.add(call.toolCallId);
  // An earlier tab may have completed the call.
  const isOurs = await isUnchanged(thread).catch(() => false);
  if (isOurs) return answer(thread, call, execute);
  started.delete(call.toolCallId);
};

/** Resolves when the service has the result, because no other tab may execute the call before. */
const answer = async (
  { chat, held }: ThreadChat,
  { tool, toolCallId, input }: Call,
  execute: PageTool,
): Promise<void> => {
  const outcome = await (async () => execute(input, { toolCallId }))().then(
    (output) => ({ output: output ?? null }),
    (error: unknown) => ({
      state: 'output-error' as const,
      errorText: error instanceof Error ? error.message : String(error),
    }),
  );
  // The user may have sent another message in between.
  if (!waitingCalls(chat.lastMessage).some((call) => call.toolCallId === toolCallId)) return;
  const taken = new Promise<void>((release) => held.set(toolCallId, release));
  // Only the page has the types of its tools.
  await chat.addToolOutput({ tool, toolCallId, ...outcome } as Parameters<typeof chat.addToolOutput>[0]);
  await taken;
};

/**
 * Releases calls whose results the service has, or all calls when the page is left, so that another tab may execute
 * them.
 */
export const releaseCalls = (
  { held }: ThreadChat,
  which: (toolCallId: string) => boolean = () => true,
): void => {
  for (const [toolCallId, release] of held) {
    if (!which(toolCallId)) continue;
    held.delete(toolCallId);
    release();
  }
};
