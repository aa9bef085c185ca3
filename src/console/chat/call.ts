import type { DynamicToolUIPart, ToolUIPart, UIMessage } from 'ai';
import type { Tone } from '../design/Chip.tsx';

export type CallPart = ToolUIPart | DynamicToolUIPart;

/**
 * Position of the message that contains the call: still being written, the last one, or followed by others. In a
 * conversation that is only shown: of a run that has not ended, of one that has, or of a single inference.
 */
export type Place = 'written' | 'last' | 'earlier' | 'open' | 'ended' | 'inference';

/**
 * State of a call as its card shows it. `answer`: the page has to execute the tool. `superseded`: more was said before
 * the user acted, and the run no longer waits for the call. `open`: the result may follow. `missing`: it does not.
 * `requested`: the model asked for the call, and the messages end there.
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
  | 'superseded'
  | 'open'
  | 'missing'
  | 'requested';

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
      return calledState(part, place);
    case 'input-streaming':
      return isBusy ? 'calling' : 'stopped';
  }
};

/** State of a call with complete input and no result. */
const calledState = ({ providerExecuted }: CallPart, place: Place): CallState => {
  if (place === 'written') return 'calling';
  if (place === 'open') return 'open';
  if (place === 'ended') return 'missing';
  if (place === 'inference') return 'requested';
  if (providerExecuted) return 'stopped';
  return place === 'earlier' ? 'superseded' : 'answer';
};

/** All other states have none. */
export const CALL_TONES: Partial<Record<CallState, Tone>> = {
  calling: 'info',
  approval: 'warn',
  approved: 'success',
  answer: 'warn',
  done: 'success',
  error: 'error',
};

/** True if the model provider executes the tool instead of the service. */
export const isOfProvider = (part: CallPart): boolean => {
  const metadata = 'callProviderMetadata' in part ? part.callProviderMetadata : undefined;
  return metadata?.troupe?.executedBy === 'provider';
};

/** True until the call has a result: the tool is being executed, or the user has to act. */
export const isOpen = (state: CallState): boolean =>
  state === 'calling' || state === 'approval' || state === 'answer';

/** For calls of the last message: the run cannot continue before the user acts. */
export const waitsForUser = (part: CallPart): boolean => {
  const state = callState(part, 'last');
  return state === 'approval' || state === 'answer';
};

const STATIC = 'tool-';

/** The function of the AI SDK would load all of it with screens that only show conversations. */
export const isCall = (part: UIMessage['parts'][number]): part is CallPart =>
  part.type === 'dynamic-tool' || part.type.startsWith(STATIC);

export const callsIn = ({ parts }: Pick<UIMessage, 'parts'>): CallPart[] => parts.filter(isCall);

export const toolOf = (part: CallPart): string =>
  part.type === 'dynamic-tool' ? part.toolName : part.type.slice(STATIC.length);

/** The input in one line: `location: "Tokyo", days: 3`. */
export const inputLine = (input: unknown): string => {
  if (input === undefined || input === null) return '';
  if (typeof input !== 'object' || Array.isArray(input)) return JSON.stringify(input);
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ');
};
