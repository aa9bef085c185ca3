import {
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';

/** What a page shows of a thread, beside what the service has of it. */

type Part = UIMessage['parts'][number];
type ToolPart = Extract<Part, { toolCallId: string }>;

/** By this page: until the service has it, it is here alone. */
const isAnswered = ({ state }: ToolPart): boolean =>
  state === 'output-available' || state === 'output-error' || state === 'approval-responded';

/** Whom the run waits for is its client, as far as the service knows. */
export const isOpen = (part: Part): part is ToolPart =>
  isToolUIPart(part) &&
  (part.state === 'approval-requested' || (part.state === 'input-available' && !part.providerExecuted));

/**
 * What the service has, with the answers that this page has given to what is open there: they are on their way, wait
 * for others of their step, or were lost. The same array, if there are none.
 */
export const withAnswers = (stored: UIMessage[], shown: readonly UIMessage[]): UIMessage[] => {
  const given = new Map<string, Part>();
  for (const part of shown.flatMap(({ parts }) => parts))
    if (isToolUIPart(part) && isAnswered(part)) given.set(part.toolCallId, part);
  const isGiven = (part: Part): boolean => isOpen(part) && given.has(part.toolCallId);
  if (!stored.some(({ parts }) => parts.some(isGiven))) return stored;
  return stored.map((message) => ({
    ...message,
    parts: message.parts.map((part) => (isOpen(part) && given.get(part.toolCallId)) || part),
  }));
};

/** Nothing more of the last step is asked of the client: its run can go on. */
export const isComplete = (messages: UIMessage[]): boolean =>
  lastAssistantMessageIsCompleteWithApprovalResponses({ messages }) ||
  lastAssistantMessageIsCompleteWithToolCalls({ messages });

/** What stands in a message, to compare. The history leaves denied calls out, and errors are results there. */
const wordsOf = ({ role, parts }: UIMessage): string[] =>
  parts.flatMap((part) => {
    if (part.type === 'text') return part.text === '' ? [] : [`${role} ${part.text}`];
    if (!isToolUIPart(part) || part.state === 'output-denied') return [];
    return [`${part.toolCallId} ${part.state === 'output-error' ? 'output-available' : part.state}`];
  });

/** What is shown is not to be replaced by the same under other ids: whoever reads it keeps the place. */
export const saysTheSame = (one: readonly UIMessage[], other: readonly UIMessage[]): boolean =>
  // An answer without words is none.
  one.at(-1)?.role === other.at(-1)?.role &&
  JSON.stringify(one.flatMap(wordsOf)) === JSON.stringify(other.flatMap(wordsOf));

export const textOf = ({ parts }: UIMessage): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
