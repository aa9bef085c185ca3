import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  type AnswerPart,
  activityOfBlock,
  blockOfPart,
  findExcess,
  isPartBlock,
  type PartBlock,
} from '../schema/answer-part.ts';
import { ContentBlock } from '../schema/message.ts';
import { Invalid } from '../schema/outcome.ts';
import { defineState, update } from '../tools/state.ts';
import { produce, type Step, type Turn } from './turn.ts';

/**
 * Parts of an answer that are not text: their storage until the answer, and how they join it.
 *
 * Guarantees: a part added by a tool or a plugin is emitted to the stream at once, and stored with the state of the run
 * until an answer takes it, so that it is as durable as the result that it belongs to: a crash loses both or neither.
 * When a failed attempt is repeated, its parts are replaced. The first answer that requests no more tools takes them;
 * parts left at the regular end of a run become a separate answer. A failed or cancelled run discards them.
 * Cost: the bytes of a part are written once more, until the next answer.
 */

const Block = z.custom<PartBlock>((value) => {
  const read = ContentBlock.safeParse(value);
  return read.success && isPartBlock(read.data);
});

/** `by`: the source of the blocks, if a repeated attempt would add them again. */
const Added = z.object({ by: z.string().optional(), blocks: z.array(Block) });
type Added = z.infer<typeof Added>;

const waitingParts = defineState({
  key: '__runtime.answer_parts',
  scope: 'run',
  hidden: true,
  schema: z.array(Added),
});

const addedTo = ({ state }: Pick<Turn, 'state'>): readonly Added[] => state.view().get(waitingParts) ?? [];

/** Returns the parts for the next answer of a run, in order. */
export const partsWaiting = (turn: Pick<Turn, 'state'>): PartBlock[] =>
  addedTo(turn).flatMap(({ blocks }) => blocks);

/** Returns why the next answer cannot hold these blocks too; undefined when it can. */
export const excessWith = (turn: Turn, blocks: readonly PartBlock[], by?: string): string | undefined => {
  if (blocks.length === 0) return undefined;
  // Blocks of a failed attempt will be replaced, so they do not count.
  const others = addedTo(turn).filter((each) => by === undefined || each.by !== by);
  const given = turn.step?.parts.map(({ block }) => block).filter(isPartBlock) ?? [];
  return findExcess([...others.flatMap((each) => each.blocks), ...given], blocks);
};

/** Requires that `excessWith` returned undefined for these blocks. */
export const addParts = (turn: Turn, blocks: readonly PartBlock[], by?: string): void => {
  if (blocks.length === 0) return;
  const added = addedTo(turn);
  const before = by === undefined ? undefined : added.find((each) => each.by === by);
  if (before && isDeepStrictEqual(before.blocks, blocks)) return;
  const now: Added = { ...(by !== undefined && { by }), blocks: [...blocks] };
  const all = before ? added.map((each) => (each === before ? now : each)) : [...added, now];
  turn.state.apply([update(waitingParts, [...all])]);
  for (const block of blocks) emitPart(turn, block);
};

/** Validates a part whose source cannot receive an error: an invalid part is dropped, with a warning in the log. */
const admitted = (
  turn: Turn,
  part: AnswerPart,
  { of, beside = [], by }: { of: object; beside?: readonly PartBlock[]; by?: string | undefined },
): PartBlock | undefined => {
  try {
    // An accepted part is a file or data.
    const [block = blockOfPart(part)] = turn.acceptFiles([blockOfPart(part)]) as PartBlock[];
    const excess = excessWith(turn, [...beside, block], by);
    if (excess === undefined) return block;
    leftOut(turn, of, excess);
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    leftOut(turn, of, error.message);
  }
  return undefined;
};

const leftOut = (turn: Turn, of: object, problem: string): void =>
  turn.warn('run.part_omitted', { ...of, problem });

/** Adds a part from the producer of the answer, at the current position in the text. */
export const receivePart = (turn: Turn, step: Step, part: AnswerPart, of: object): void => {
  const block = admitted(turn, part, { of });
  if (!block) return;
  step.parts.push({ at: step.text.length, block });
  emitPart(turn, block);
};

/** Adds the parts of a plugin. */
export const addAdmitted = (turn: Turn, parts: readonly AnswerPart[], of: object, by?: string): void => {
  const blocks: PartBlock[] = [];
  for (const part of parts) {
    const block = admitted(turn, part, { of, beside: blocks, by });
    if (block) blocks.push(block);
  }
  addParts(turn, blocks, by);
};

/** Readers receive a part at once, regardless of its final position in a message. */
const emitPart = (turn: Turn, block: PartBlock): void =>
  turn.stream.emit({
    event_type: 'activity_snapshot',
    message_id: turn.ids.uuid(),
    ...activityOfBlock(block),
    replace: true,
  });

/** Removes the parts from the state; the caller becomes responsible for them. */
export const takeParts = (turn: Turn): PartBlock[] => {
  const blocks = partsWaiting(turn);
  if (blocks.length > 0) turn.state.apply([update(waitingParts, undefined)]);
  return blocks;
};

/** Adds later parts to the answer while it is not durable; otherwise they stay for the next one. */
export const joinAnswer = (turn: Turn, message_id: string): void => {
  const waiting = partsWaiting(turn);
  const index = turn.produced.findIndex(({ id }) => id === message_id);
  const answer = turn.produced[index];
  if (!answer || answer.tool_calls || findExcess(answer.content.filter(isPartBlock), waiting) !== undefined)
    return;
  if (waiting.length > 0)
    turn.produced[index] = { ...answer, content: [...answer.content, ...takeParts(turn)] };
};

/** At a regular end of the run, adds the remaining parts to the last answer, or makes them a separate one. */
export const keepLeftParts = (turn: Turn): void => {
  const last = turn.produced.at(-1);
  if (last?.role === 'assistant' && !last.tool_calls) joinAnswer(turn, last.id);
  const content = takeParts(turn);
  if (content.length > 0) produce(turn, { id: turn.ids.uuid(), role: 'assistant', content });
};
