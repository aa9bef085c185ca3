import { DELTA_END, deltaHead, frame } from './frames.ts';

/**
 * The open step and its two messages: the response and its reasoning (chat-and-agui.md 12.1).
 *
 * Guarantees: a delta is always inside an open message. Everything that was opened is closed once, messages before
 * their step. A response that continues after a tool call is reopened under its id, and the client continues the same
 * message.
 * Cost: two concatenations and one `JSON.stringify` per delta.
 */
export type Answer = {
  /** Prefix of a text delta; empty if something must be opened or closed first. */
  textHead: string;
  /** Prefix of a reasoning delta; empty if something must be opened or closed first. */
  reasoningHead: string;
  /** Id of the stored message of the step. */
  messageId: string;
  textOpen: boolean;
  reasoningOpen: boolean;
  /** Whether the client has received text of the step. */
  hasText: boolean;
  /** Whether the client has received reasoning of the step. */
  reasoned: boolean;
  /** Number of steps in this stream. */
  steps: number;
  stepOpen: boolean;
};

export const createAnswer = (messageId = ''): Answer => ({
  textHead: '',
  reasoningHead: '',
  messageId,
  textOpen: false,
  reasoningOpen: false,
  hasText: false,
  reasoned: false,
  steps: 0,
  stepOpen: false,
});

/** A separate message id: with the same id, the client would append the response to the reasoning. */
export const reasoningIdOf = (messageId: string): string => `reasoning_${messageId}`;

/** Encodes a text delta that needs more than a prefix: it closes the reasoning and may open the message. */
export const beginText = (answer: Answer, delta: string): string => {
  const { messageId } = answer;
  let frames = closeReasoning(answer);
  if (!answer.textOpen) {
    answer.textOpen = true;
    answer.hasText = true;
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
  // The next text delta must close this message.
  answer.textHead = '';
  const start = frame('REASONING_MESSAGE_START', { messageId, role: 'reasoning' });
  return start + answer.reasoningHead + JSON.stringify(delta) + DELTA_END;
};

/** Names the reasoning message if the step has one, because the client searches for a message with this id. */
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

/** Resets the messages at the end of a step, or when its frames are revoked. */
export const forgetMessages = (answer: Answer): void => {
  answer.hasText = false;
  answer.reasoned = false;
};

/** Requires that all messages of the step are closed. */
export const closeStep = (answer: Answer): string => {
  if (!answer.stepOpen) return '';
  answer.stepOpen = false;
  return frame('STEP_FINISHED', { stepName: stepName(answer) });
};

/** Requires that the previous step is closed. */
export const openStep = (answer: Answer, message_id: string): string => {
  answer.stepOpen = true;
  answer.steps += 1;
  forgetMessages(answer);
  if (message_id.trim() !== '') answer.messageId = message_id;
  return frame('STEP_STARTED', { stepName: stepName(answer) });
};

const stepName = ({ steps }: Answer): string => `step_${steps}`;
