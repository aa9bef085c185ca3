import {
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';

/** The shown state of a thread, in addition to the stored one. */

type Part = UIMessage['parts'][number];
type ToolPart = Extract<Part, { toolCallId: string }>;

/** Returns whether this page has decided a call; the decision is only local until the service has it. */
const isAnswered = ({ state }: ToolPart): boolean =>
  state === 'output-available' || state === 'output-error' || state === 'approval-responded';

/** Returns whether the run waits for its client, according to the service. */
export const isOpen = (part: Part): part is ToolPart =>
  isToolUIPart(part) &&
  (part.state === 'approval-requested' || (part.state === 'input-available' && !part.providerExecuted));

/**
 * Adds this page's decisions on pending calls to the stored messages: they are in transit, wait for others of their
 * step, or were lost. Returns the same array if there are none.
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

/** Returns whether the last step requires nothing more from the client, so that its run can continue. */
export const isComplete = (messages: UIMessage[]): boolean =>
  lastAssistantMessageIsCompleteWithApprovalResponses({ messages }) ||
  lastAssistantMessageIsCompleteWithToolCalls({ messages });

/** Returns the content of a message for comparison. The history omits denied calls and stores errors as results. */
const wordsOf = ({ role, parts }: UIMessage): string[] =>
  parts.flatMap((part) => {
    if (part.type === 'text') return part.text === '' ? [] : [`${role} ${part.text}`];
    if (!isToolUIPart(part) || part.state === 'output-denied') return [];
    return [`${part.toolCallId} ${part.state === 'output-error' ? 'output-available' : part.state}`];
  });

/** Equal messages with other ids do not replace the shown ones, so that the reader keeps the scroll position. */
export const hasSameText = (one: readonly UIMessage[], other: readonly UIMessage[]): boolean =>
  // An empty response counts as none.
  one.at(-1)?.role === other.at(-1)?.role &&
  JSON.stringify(one.flatMap(wordsOf)) === JSON.stringify(other.flatMap(wordsOf));

export const textOf = ({ parts }: UIMessage): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** Returns the parts of a message of the user with another text, in the place of the first one. */
export const withText = (parts: readonly Part[], text: string): Part[] => {
  const edited: Part = { type: 'text', text };
  const first = parts.findIndex(({ type }) => type === 'text');
  if (first < 0) return [...parts, edited];
  return parts.flatMap((part, index): Part[] => {
    if (index === first) return [edited];
    return part.type === 'text' ? [] : [part];
  });
};
