import { type DynamicToolUIPart, getToolName, isToolUIPart, type ToolUIPart, type UIMessage } from 'ai';
import type { Tone } from '../design/Chip.tsx';

/** A call of a tool, as the part of a message tells of it. */
export type CallPart = ToolUIPart | DynamicToolUIPart;

/** In the words of the card that shows it. `answer`: it is the page that has to execute it. */
export type CallState =
  | 'calling'
  | 'approval'
  | 'approved'
  | 'answer'
  | 'done'
  | 'error'
  | 'denied'
  | 'stopped';

/** @param isBusy the message is still being written */
export const callState = (part: CallPart, isBusy: boolean): CallState => {
  switch (part.state) {
    case 'approval-requested':
      return 'approval';
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
      return part.providerExecuted ? 'stopped' : 'answer';
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
};

/** Until it has a result, somebody or something is still at it. */
export const isOpen = (state: CallState): boolean =>
  state === 'calling' || state === 'approval' || state === 'answer';

/** The run that asked for it goes no further before its user has done something. */
export const waitsForUser = (part: CallPart): boolean => {
  const state = callState(part, false);
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
