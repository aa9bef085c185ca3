import { getToolName, isToolUIPart, type UIMessage } from 'ai';
import { digestOfCall, type Json } from '../client/call-digest.ts';

/**
 * A decision on a call that waits for approval.
 *
 * @example
 * ```ts
 * const refuse = (chat: TroupeChat, id: string): void => {
 *   const approval: Approval = { id, reason: 'not in this folder' };
 *   chat.deny(approval);
 * };
 * ```
 */
export type Approval = {
  /** Id in the `approval` of the part. */
  id: string;
  reason?: string;
  /** Replaces the arguments of the call. */
  arguments?: { [name: string]: Json };
};

/**
 * Binds an approval to the displayed call: its digest, or that of the tickets that a delegating call lists, is added to
 * the `approval` of the part, which the client sends with the decision.
 */
export const bindApproval = <Message extends UIMessage>(
  messages: readonly Message[],
  { id, arguments: edited }: Approval,
): Message[] =>
  messages.map((message) => {
    const part = message.parts.find((each) => isToolUIPart(each) && each.approval?.id === id);
    if (!part || !isToolUIPart(part) || part.state !== 'approval-requested') return message;
    const digest = edited === undefined ? listedDigest(message, id) : undefined;
    const bound = {
      ...part.approval,
      digest: digest ?? digestOfCall({ tool: getToolName(part), arguments: edited ?? jsonOf(part.input) }),
      ...(edited !== undefined && { arguments: edited }),
    };
    return {
      ...message,
      parts: message.parts.map((each) => (each === part ? { ...part, approval: bound } : each)),
    };
  });

/** Returns the digest of the tickets below a delegating call. */
const listedDigest = ({ parts }: UIMessage, id: string): string | undefined => {
  const listed = parts.find((part) => part.type === 'data-tool-approval' && 'id' in part && part.id === id);
  const data: unknown = listed && 'data' in listed ? listed.data : undefined;
  const isObject = typeof data === 'object' && data !== null && 'digest' in data;
  return isObject && typeof data.digest === 'string' ? data.digest : undefined;
};

// The input of a part is parsed JSON.
const jsonOf = (input: unknown): Json => (input ?? null) as Json;
