import { splitAtLastAnswer, userInput } from '../../protocols/openai/chat-decode.ts';
import { callNumbers } from '../../protocols/openai/chat-leg.ts';
import { noToolOutput } from '../../protocols/openai/errors.ts';
import { callId, parseCallId } from '../../protocols/openai/ids.ts';
import { answerAll, commandIn, decideAll, type Waits, waitsOf } from '../../protocols/openai/waits.ts';
import type { DecisionInput, ImportedMessage, ThreadView, UserMessage } from '../../runtime/index.ts';
import { inexactInteger } from '../../schema/exact-integers.ts';
import type { Json } from '../../schema/json.ts';
import { jsonOrUndefined } from '../../schema/json-or-undefined.ts';
import { textOf } from '../../schema/message.ts';
import type { RunRecord } from '../../schema/run-state.ts';

/** Converts the new messages of a chat completion to the input of a thread: messages, or answers to what it waits for. */

export type ChatInput = {
  messages: readonly UserMessage[];
  decisions: readonly DecisionInput[];
  /** Whether the input decides permissions, for which the caller needs the right. */
  decides: boolean;
  /** The waiting run that the input continues. */
  continued: RunRecord | undefined;
};

/** The waiting run of a thread that new input of this user for this agent continues. */
export const waitingRun = (
  thread: ThreadView,
  { agent_id, user }: { agent_id: string; user: string | undefined },
): RunRecord | undefined => {
  if (thread.run_id === undefined || thread.executes !== undefined) return undefined;
  const run = thread.run(thread.run_id);
  return run?.status === 'waiting' && run.agent_id === agent_id && run.user === user ? run : undefined;
};

export const waitsOfRun = (run: Pick<RunRecord, 'waiting' | 'activation'> | undefined): Waits =>
  waitsOf(run?.waiting, run?.activation?.options.frontend_tools);

/** Messages of the user answer questions, or decide permissions by a command; any other text replaces the wait. */
export const chatInput = (
  given: readonly ImportedMessage[],
  continued: RunRecord | undefined,
  isKeyed: boolean,
): ChatInput => {
  const messages = userInput(given);
  const none = { decisions: [], decides: false, continued };
  const last = messages.at(-1);
  if (!continued || !last || !isKeyed) return { ...none, messages };
  const { permissions, questions } = waitsOfRun(continued);
  const text = textOf(last.content);
  const command = permissions.length > 0 ? commandIn(text) : undefined;
  if (command) {
    const decisions = decideAll(permissions, command);
    // A wait for accounts only is not ended by an approval, nor by a message about it.
    return { messages: [], decisions, decides: true, continued };
  }
  if (permissions.length > 0 || questions.length === 0) return { ...none, messages };
  return { messages: [], decisions: answerAll(questions, text), decides: false, continued };
};

/** The run whose calls the last messages of a request answer, and the results by the number of their call. */
export type ToolResults = {
  run_id: string;
  results: ReadonlyMap<number, Json>;
  /** Messages of the user behind them. */
  after: readonly ImportedMessage[];
};

/** Undefined if the messages behind the last one of the assistant answer calls of no run, or of several. */
export const toolResultsIn = (messages: readonly ImportedMessage[]): ToolResults | undefined => {
  const { after } = splitAtLastAnswer(messages);
  const results = new Map<number, Json>();
  const runs = new Set<string | undefined>();
  for (const { role, content, tool_call_id = '' } of after) {
    if (role !== 'tool') continue;
    const call = parseCallId(tool_call_id);
    runs.add(call?.run_id);
    if (call) results.set(call.ordinal, resultOf(textOf(content)));
  }
  const [run_id] = runs;
  return runs.size === 1 && run_id !== undefined ? { run_id, results, after } : undefined;
};

/** A JSON text is a value, unless that would change its numbers. */
const resultOf = (text: string): Json => {
  if (inexactInteger(text) !== undefined) return text;
  const value = jsonOrUndefined(text);
  // Parsed JSON.
  return value === undefined ? text : (value as Json);
};

/**
 * Answers the calls of a waiting run.
 * @throws OpenAiError if a call of the client has no result
 */
export const resultInput = (
  { results, after }: ToolResults,
  run: RunRecord,
  history: readonly ImportedHistory[],
): ChatInput => {
  const numbers = callNumbers(history, run.run_id);
  const decisions = waitsOfRun(run).calls.map(({ ticket_id, tool_call_id }): DecisionInput => {
    const ordinal = numbers.get(tool_call_id) ?? 0;
    const payload = results.get(ordinal);
    if (payload === undefined) throw noToolOutput(callId({ run_id: run.run_id, ordinal }), 'messages');
    return { tool_call_id: ticket_id, action: 'resume', payload, form: 'output' };
  });
  return { messages: userInput(after), decisions, decides: false, continued: run };
};

type ImportedHistory = ReturnType<ThreadView['history']>[number];
