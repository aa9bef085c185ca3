import { DELTA_END, deltaHead, FINISH_STEP, frame, START_STEP } from './frames.ts';

/**
 * The open parts of the response: a step, a text block and a reasoning block (chat-and-agui.md 4.1).
 *
 * Guarantees: a delta is always inside an open block. Everything that was opened is closed once, blocks before their
 * step. Ids of text blocks are unique in a stream.
 * Cost: two concatenations and one `JSON.stringify` per delta.
 */
export type Blocks = {
  /** Prefix of a text delta; empty if something must be opened or closed first. */
  textHead: string;
  /** Prefix of a reasoning delta; empty if something must be opened or closed first. */
  reasoningHead: string;
  textId: string | undefined;
  /** Set if the open text was revoked: its content, and the repeated text since, which is equal so far. */
  voided: { text: string; again: string } | undefined;
  reasoningId: string | undefined;
  texts: number;
  stepOpen: boolean;
  /** Id of the first step; ids of reasoning blocks end with it. */
  messageId: string;
  named: boolean;
};

export const createBlocks = (): Blocks => ({
  textHead: '',
  reasoningHead: '',
  textId: undefined,
  voided: undefined,
  reasoningId: undefined,
  texts: 0,
  stepOpen: false,
  messageId: '',
  named: false,
});

/** Starts a stream with nothing open. */
export const resetBlocks = (blocks: Blocks, run_id: string): void => {
  Object.assign(blocks, createBlocks());
  blocks.messageId = run_id;
};

export const reasoningIdOf = ({ messageId }: Blocks): string => `reasoning_${messageId}`;

/** Encodes a text delta that needs more than a prefix: it closes the reasoning and may open a block. */
export const beginText = (blocks: Blocks, delta: string): string => {
  let frames = closeReasoning(blocks);
  if (blocks.voided) return frames + repeatText(blocks, blocks.voided, delta);
  if (blocks.textId === undefined) {
    blocks.textId = `txt_${blocks.texts}`;
    frames += frame('text-start', { id: blocks.textId });
  }
  blocks.textHead = deltaHead('text', blocks.textId);
  return frames + blocks.textHead + JSON.stringify(delta) + DELTA_END;
};

export const beginReasoning = (blocks: Blocks, delta: string): string => {
  const id = reasoningIdOf(blocks);
  blocks.reasoningId = id;
  blocks.reasoningHead = deltaHead('reasoning', id);
  // The next text delta must close this block.
  blocks.textHead = '';
  return frame('reasoning-start', { id }) + blocks.reasoningHead + JSON.stringify(delta) + DELTA_END;
};

export const closeText = (blocks: Blocks): string => {
  const { textId, voided } = blocks;
  if (textId === undefined) return '';
  if (voided) return replaceText(blocks, voided) + closeText(blocks);
  blocks.textId = undefined;
  blocks.textHead = '';
  blocks.texts += 1;
  return frame('text-end', { id: textId });
};

export const closeReasoning = (blocks: Blocks): string => {
  const { reasoningId } = blocks;
  if (reasoningId === undefined) return '';
  blocks.reasoningId = undefined;
  blocks.reasoningHead = '';
  return frame('reasoning-end', { id: reasoningId });
};

/**
 * Revokes the current text. A client cannot remove it, so its block stays open as long as the new text is the same: the
 * text then appears once.
 */
export function voidText(blocks: Blocks, text: string | undefined): string {
  const again = blocks.voided;
  if (blocks.textId === undefined) return '';
  blocks.textHead = '';
  // After another reset, the client still has only the text of the first attempt.
  blocks.voided = { text: again?.text ?? text ?? '', again: '' };
  return '';
}

function repeatText(blocks: Blocks, voided: NonNullable<Blocks['voided']>, delta: string): string {
  voided.again += delta;
  const { text, again } = voided;
  if (text.startsWith(again)) return '';
  if (text === '' || !again.startsWith(text)) return replaceText(blocks, voided);
  blocks.voided = undefined;
  return beginText(blocks, again.slice(text.length));
}

/** Handles a different text: the block of the first one is marked for clients that can omit it. */
function replaceText(blocks: Blocks, { again, text }: NonNullable<Blocks['voided']>): string {
  const id = blocks.textId ?? '';
  blocks.voided = undefined;
  blocks.textHead = '';
  if (again === text && text !== '') return '';
  blocks.textId = undefined;
  blocks.texts += 1;
  const ended = frame('text-end', { id, providerMetadata: { troupe: { voided: true } } });
  return again === '' ? ended : ended + beginText(blocks, again);
}

export const closeBlocks = (blocks: Blocks): string => closeText(blocks) + closeReasoning(blocks);

/** The client forgets open blocks at the end of a step, so they are closed before it. */
export const closeStep = (blocks: Blocks): string => {
  const closed = closeBlocks(blocks);
  if (!blocks.stepOpen) return closed;
  blocks.stepOpen = false;
  return closed + FINISH_STEP;
};

export const openStep = (blocks: Blocks, message_id: string): string => {
  // The attempt after a reset continues in the step of the first attempt, where its text is open.
  if (blocks.voided && blocks.stepOpen) return '';
  const closed = closeStep(blocks);
  blocks.stepOpen = true;
  if (!blocks.named && message_id.trim() !== '') {
    blocks.named = true;
    blocks.messageId = message_id;
  }
  return closed + START_STEP;
};
