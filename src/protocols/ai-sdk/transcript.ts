import { deniedText, type WaitingCall } from '../../runtime/index.ts';
import type { Message, ToolCall } from '../../schema/message.ts';
import { verdictOf } from '../../tools/verdict.ts';
import { type ChatInput, decodeTranscript } from './decode.ts';
import type { ChatOptions } from './encoder.ts';
import { isProviderCallPart } from './provider-calls.ts';
import type { ChatBody, ChatMessage } from './request.ts';
import { type ToolResponse, toolResponses } from './tool-responses.ts';

/**
 * Converts a conversation that only the client has to the history of a run (chat-and-agui.md 10).
 *
 * Guarantees: the model receives the results of its tools, and the denials of calls. A call without a decision is
 * omitted and can no longer be executed. Decisions count only in the last step of the last response: earlier ones were
 * processed when they were new, or superseded by later messages of the user.
 */

export type Transcript = {
  messages: Message[];
  /** Calls of the last response with which the run starts. */
  waiting: WaitingCall[];
  /** Options for the form of the response. */
  options: ChatOptions;
};

/** @throws Invalid */
export const readTranscript = (body: ChatBody, newId: () => string): Transcript => {
  // Numbers match messages with their results, because clients need not send ids.
  const numbered = body.messages.map((message, index) => ({ ...message, id: String(index) }));
  const decoded = decodeTranscript({ ...body, messages: numbered }).messages;
  const inputs = new Map(decoded.map((input) => [input.id, input]));
  const lastAnswer = numbered.findLastIndex(({ role }) => role === 'assistant');
  const mayWait = lastAnswer === numbered.length - 1;
  const waiting = waitingIn(numbered[lastAnswer], mayWait);
  const context = inputs.get(undefined);
  const messages = [
    ...(context ? [toMessage(context, newId())] : []),
    ...numbered.flatMap((message, index): Message[] => {
      if (message.role === 'assistant') {
        return answerMessages(message, index === lastAnswer ? waiting : [], newId);
      }
      const input = inputs.get(message.id);
      return input ? [toMessage(input, newId())] : [];
    }),
  ];
  return { messages, waiting, options: optionsOf(body, waiting) };
};

const toMessage = ({ role, content, visibility }: ChatInput, id: string): Message => ({
  id,
  role,
  content,
  ...(visibility && { visibility }),
});

/** A new message of the client does not contain the calls. */
const optionsOf = ({ continues }: ChatBody, waiting: readonly WaitingCall[]): ChatOptions => {
  if (continues !== undefined) return { continues };
  const calls = new Map(waiting.map(({ call }) => [call.id, call]));
  return { earlier: (call_id) => calls.get(call_id) };
};

type Part = { type: string; [key: string]: unknown };

const isPart = (part: unknown): part is Part =>
  typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string';

const stepsOf = ({ parts }: ChatMessage): Part[][] => {
  const steps: Part[][] = [[]];
  for (const part of parts.filter(isPart)) {
    if (part.type === 'step-start') steps.push([]);
    // Calls that the model provider executed are not calls of the service.
    else if (!isProviderCallPart(part)) steps.at(-1)?.push(part);
  }
  return steps;
};

/** Parses the response in a part as if it had this state; undefined if the part is not a call. */
const responseIn = (part: Part, state = part.state): ToolResponse | undefined =>
  toolResponses([{ role: 'assistant', parts: [{ ...part, state, providerExecuted: false }] }])[0];

/** Without any decision, the run does not continue; a response that is followed by a user message cannot be pending. */
const waitingIn = (answer: ChatMessage | undefined, mayWait: boolean): WaitingCall[] => {
  const parts = answer ? (stepsOf(answer).at(-1) ?? []) : [];
  const decided = parts.flatMap((part) => {
    const response = part.state === 'approval-responded' ? responseIn(part) : undefined;
    return response ? [{ ...waitingCall(response), decision: decisionOf(response) }] : [];
  });
  if (decided.length === 0 || !mayWait) return decided;
  const open = parts.flatMap((part) => {
    const request = part.state === 'approval-requested' ? responseIn(part, 'approval-responded') : undefined;
    return request ? [waitingCall(request)] : [];
  });
  return [...decided, ...open];
};

const waitingCall = ({ call, target }: ToolResponse): WaitingCall => ({
  call,
  ticket_id: target,
  resume_mode: 'replay_tool_call',
});

const decisionOf = ({
  action,
  form,
  result,
  digest,
  reason,
}: ToolResponse): NonNullable<WaitingCall['decision']> => ({
  action,
  form,
  payload: result,
  ...(digest !== undefined && { digest }),
  ...(reason !== undefined && { reason }),
});

const answerMessages = (
  answer: ChatMessage,
  waiting: readonly WaitingCall[],
  newId: () => string,
): Message[] => {
  const steps = stepsOf(answer);
  return steps.flatMap((parts, index) => {
    const ended = parts.flatMap((part) => endedCall(part) ?? []);
    const open = index === steps.length - 1 ? waiting.map(({ call }) => call) : [];
    const calls = [
      ...ended.map(({ call }) => call).filter(({ id }) => !open.some((each) => each.id === id)),
      ...open,
    ];
    const text = parts.map((part) =>
      part.type === 'text' && typeof part.text === 'string' ? part.text : '',
    );
    return stepMessages(text.join(''), calls, ended, newId);
  });
};

type EndedCall = { call: ToolCall; result: string };

const stepMessages = (
  text: string,
  calls: readonly ToolCall[],
  ended: readonly EndedCall[],
  newId: () => string,
): Message[] => {
  if (text === '' && calls.length === 0) return [];
  const answer: Message = {
    id: newId(),
    role: 'assistant',
    content: text === '' ? [] : [{ type: 'text', text }],
    ...(calls.length > 0 && { tool_calls: [...calls] }),
  };
  const results = ended.map(
    ({ call, result }): Message => ({
      id: newId(),
      role: 'tool',
      tool_call_id: call.id,
      content: [{ type: 'text', text: result }],
    }),
  );
  return [answer, ...results];
};

const PERMISSION = { resume_mode: 'replay_tool_call' } as const;

/** Returns a finished call with its result for the model, or undefined if the call may still execute. */
const endedCall = (part: Part): EndedCall | undefined => {
  const response = responseIn(part);
  if (!response) return undefined;
  const { call, action, result } = response;
  const isApproval = part.state === 'approval-responded';
  const verdict = verdictOf(PERMISSION, { action, payload: result, form: response.form });
  if (isApproval && verdict.kind !== 'denied') return undefined;
  return {
    call,
    result: isApproval || action === 'cancel' ? deniedText(reasonIn(part)) : resultText(part, result),
  };
};

/** The client stores the reason with the approval, even if the call was denied. */
const reasonIn = (part: Part): string | undefined => responseIn(part, 'approval-responded')?.reason;

const resultText = ({ state, errorText }: Part, result: ToolResponse['result']): string => {
  if (state === 'output-error' && typeof errorText === 'string') return errorText;
  return typeof result === 'string' ? result : JSON.stringify(result);
};
