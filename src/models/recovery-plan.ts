import type { Message } from '../schema/message.ts';

/** Plans how to proceed after a stream was interrupted, based on the received output (agent-loop.md 9.4). */

export type ReceivedCall = { id: string; name: string; complete: boolean };

export type Received = { text: string; calls: readonly ReceivedCall[] };

export type RecoveryPlan =
  /** The complete calls are the completion; the others are lost. */
  | { kind: 'finish'; lost: readonly ReceivedCall[]; note?: string }
  /** The model continues its text. */
  | { kind: 'continue'; lost: readonly ReceivedCall[]; messages: readonly Message[] }
  /** Nothing received is worth keeping. */
  | { kind: 'restart' };

export const planRecovery = ({ text, calls }: Received): RecoveryPlan => {
  const lost = calls.filter(({ complete }) => !complete);
  if (lost.length < calls.length) {
    return { kind: 'finish', lost, ...(lost.length > 0 && { note: LOST(lost) }) };
  }
  if (text.trim() === '') return { kind: 'restart' };
  return { kind: 'continue', lost, messages: continuation(text, lost) };
};

const LOST = (lost: readonly ReceivedCall[]): string =>
  `The connection broke while you were writing your call of ${namesOf(lost)}: that call was lost and did not run. Make it again if it is still needed.`;

const CONTINUE =
  'The connection broke in the middle of your answer. Your text until then is above and was delivered. Go on exactly where it stops, without repeating any of it and without a word about the interruption.';

const namesOf = (calls: readonly ReceivedCall[]): string =>
  calls.map(({ name }) => `'${name}'`).join(' and ');

/** The model receives its own text as an assistant message, and the reason for the new request. */
const continuation = (text: string, lost: readonly ReceivedCall[]): Message[] => [
  { id: 'recovery-prefix', role: 'assistant', content: [{ type: 'text', text }], visibility: 'internal' },
  {
    id: 'recovery-note',
    role: 'user',
    content: [{ type: 'text', text: lost.length === 0 ? CONTINUE : `${CONTINUE} ${LOST(lost)}` }],
    visibility: 'internal',
  },
];
