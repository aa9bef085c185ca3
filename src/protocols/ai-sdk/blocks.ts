import { DELTA_END, deltaHead, FINISH_STEP, frame, START_STEP } from './frames.ts';

/**
 * The parts of the answer that are open: a step, a text block and a reasoning block (chat-and-agui.md 4.1).
 *
 * Guarantees: a delta is always inside of an open block; what was opened is closed once, blocks before their step;
 * ids of text blocks are never used twice in a stream. Costs two concatenations and one `JSON.stringify` a delta.
 */
export type Blocks = {
  /** In front of a text delta when nothing has to be opened or closed for it, else empty. */
  textHead: string;
  /** The same for reasoning. */
  reasoningHead: string;
  textId: string | undefined;
  /** The open text was taken back: what it said, and what has come since that says the same so far. */
  voided: { text: string; again: string } | undefined;
  reasoningId: string | undefined;
  texts: number;
  stepOpen: boolean;
  /** Of the first step; ids of reasoning blocks end with it. */
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

/** A stream begins; nothing is open. */
export const resetBlocks = (blocks: Blocks, run_id: string): void => {
  Object.assign(blocks, createBlocks());
  blocks.messageId = run_id;
};

export const reasoningIdOf = ({ messageId }: Blocks): string => `reasoning_${messageId}`;

/** A text delta that is not simply more of the open block: reasoning is over, and a block may have to begin. */
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
  // The next text delta has to close this block.
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
 * The text under way is taken back. A client cannot remove it, so its block stays open as long as the new text says
 * the same: the client then reads the text once.
 */
export function voidText(blocks: Blocks, text: string | undefined): string {
  const again = blocks.voided;
  if (blocks.textId === undefined) return '';
  blocks.textHead = '';
  // The text of a second attempt is at most what the client has of the first.
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

/** Another text follows: the block of the first one is marked for clients that can leave it out. */
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
