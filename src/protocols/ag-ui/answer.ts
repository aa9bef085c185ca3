import { DELTA_END, deltaHead, frame } from './frames.ts';

/**
 * The step and the two messages of it that may be open: the answer and its reasoning (chat-and-agui.md 12.1).
 *
 * Guarantees: a delta is always inside of an open message; what was opened is closed once, messages before their
 * step. An answer that goes on behind a tool call is opened again under its id, and the client goes on with the
 * same message. Costs two concatenations and one `JSON.stringify` a delta.
 */
export type Answer = {
  /** In front of a text delta when nothing has to be opened or closed for it, else empty. */
  textHead: string;
  /** The same for reasoning. */
  reasoningHead: string;
  /** Of the stored message of the step. */
  messageId: string;
  textOpen: boolean;
  reasoningOpen: boolean;
  /** The client has text of the step. */
  said: boolean;
  /** The step has told its reasoning, or some of it. */
  reasoned: boolean;
  /** In this stream. */
  steps: number;
  stepOpen: boolean;
};

export const createAnswer = (messageId = ''): Answer => ({
  textHead: '',
  reasoningHead: '',
  messageId,
  textOpen: false,
  reasoningOpen: false,
  said: false,
  reasoned: false,
  steps: 0,
  stepOpen: false,
});

/** A message of its own: under the same id the client would append the answer to the reasoning. */
export const reasoningIdOf = (messageId: string): string => `reasoning_${messageId}`;

/** A text delta that is not simply more of the open message: reasoning is over, and the answer may have to begin. */
export const beginText = (answer: Answer, delta: string): string => {
  const { messageId } = answer;
  let frames = closeReasoning(answer);
  if (!answer.textOpen) {
    answer.textOpen = true;
    answer.said = true;
    frames += frame('TEXT_MESSAGE_START', { messageId, role: 'assistant' });
  }
  answer.textHead = deltaHead('TEXT_MESSAGE_CONTENT', messageId);
  return frames + answer.textHead + JSON.stringify(delta) + DELTA_END;
};

export const beginReasoning = (answer: Answer, delta: string): string => {
  const messageId = reasoningIdOf(answer.messageId);
  answer.reasoningOpen = true;
  answer.reasoned = true;
  answer.reasoningHead = deltaHead('REASONING_MESSAGE_CONTENT', messageId);
  // The next text delta has to close this message.
  answer.textHead = '';
  const start = frame('REASONING_MESSAGE_START', { messageId, role: 'reasoning' });
  return start + answer.reasoningHead + JSON.stringify(delta) + DELTA_END;
};

/** The reasoning message where the step has one, as the client looks for a message of this id. */
export const encryptedReasoning = ({ reasoned, messageId }: Answer, encryptedValue: string): string =>
  frame('REASONING_ENCRYPTED_VALUE', {
    subtype: 'message',
    entityId: reasoned ? reasoningIdOf(messageId) : messageId,
    encryptedValue,
  });

const closeText = (answer: Answer): string => {
  if (!answer.textOpen) return '';
  answer.textOpen = false;
  answer.textHead = '';
  return frame('TEXT_MESSAGE_END', { messageId: answer.messageId });
};

const closeReasoning = (answer: Answer): string => {
  if (!answer.reasoningOpen) return '';
  answer.reasoningOpen = false;
  answer.reasoningHead = '';
  return frame('REASONING_MESSAGE_END', { messageId: reasoningIdOf(answer.messageId) });
};

export const closeMessages = (answer: Answer): string => closeText(answer) + closeReasoning(answer);

/** The step has ended, or its frames were taken back. */
export const forgetMessages = (answer: Answer): void => {
  answer.said = false;
  answer.reasoned = false;
};

/** Nothing else of the step is open. */
export const closeStep = (answer: Answer): string => {
  if (!answer.stepOpen) return '';
  answer.stepOpen = false;
  return frame('STEP_FINISHED', { stepName: stepName(answer) });
};

/** The step before it is closed. */
export const openStep = (answer: Answer, message_id: string): string => {
  answer.stepOpen = true;
  answer.steps += 1;
  forgetMessages(answer);
  if (message_id.trim() !== '') answer.messageId = message_id;
  return frame('STEP_STARTED', { stepName: stepName(answer) });
};

const stepName = ({ steps }: Answer): string => `step_${steps}`;
