import { type DynamicToolUIPart, getToolName, isToolUIPart, type ToolUIPart, type UIMessage } from 'ai';
import type { Tone } from '../design/Chip.tsx';

/** A call of a tool, as the part of a message tells of it. */
export type CallPart = ToolUIPart | DynamicToolUIPart;

/** Of the message that it is in: it is still being written, it is the last one, or more was said behind it. */
export type Place = 'written' | 'last' | 'earlier';

/**
 * In the words of the card that shows it. `answer`: it is the page that has to execute it. `superseded`: nobody did
 * anything before more was said; its run does not wait for that any more.
 */
export type CallState =
  | 'calling'
  | 'approval'
  | 'approved'
  | 'answer'
  | 'done'
  | 'error'
  | 'denied'
  | 'stopped'
  | 'superseded';

export const callState = (part: CallPart, place: Place): CallState => {
  const isBusy = place === 'written';
  switch (part.state) {
    case 'approval-requested':
      return place === 'earlier' ? 'superseded' : 'approval';
    case 'approval-responded':
      return part.approval.approved ? 'approved' : 'denied';
    case 'output-available':
      return part.preliminary && isBusy ? 'calling' : 'done';
    case 'output-error':
      return 'error';
    case 'output-denied':
      return 'denied';
    case 'input-available':
      if (isBusy) return 'calling';
      if (part.providerExecuted) return 'stopped';
      return place === 'earlier' ? 'superseded' : 'answer';
    case 'input-streaming':
      return isBusy ? 'calling' : 'stopped';
  }
};

export const CALL_TONES: Record<CallState, Tone> = {
  calling: 'info',
  approval: 'warn',
  approved: 'success',
  answer: 'warn',
  done: 'success',
  error: 'error',
  denied: 'none',
  stopped: 'none',
  superseded: 'none',
};

/** The model provider executes it, and no tool of the service. */
export const isOfProvider = (part: CallPart): boolean => {
  const metadata = 'callProviderMetadata' in part ? part.callProviderMetadata : undefined;
  return metadata?.troupe?.executedBy === 'provider';
};

/** Until it has a result, somebody or something is still at it. */
export const isOpen = (state: CallState): boolean =>
  state === 'calling' || state === 'approval' || state === 'answer';

/** In the last message: the run that asked for it goes no further before its user has done something. */
export const waitsForUser = (part: CallPart): boolean => {
  const state = callState(part, 'last');
  return state === 'approval' || state === 'answer';
};

export const callsIn = ({ parts }: Pick<UIMessage, 'parts'>): CallPart[] => parts.filter(isToolUIPart);

export const toolOf = (part: CallPart): string => getToolName(part);

/** What it was given, in a line: `location: "Tokyo", days: 3`. */
export const inputLine = (input: unknown): string => {
  if (input === undefined || input === null) return '';
  if (typeof input !== 'object' || Array.isArray(input)) return JSON.stringify(input);
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ');
};
