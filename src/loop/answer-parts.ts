import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  type AnswerPart,
  activityOfBlock,
  blockOfPart,
  excessOf,
  isPartBlock,
  type PartBlock,
} from '../schema/answer-part.ts';
import { ContentBlock } from '../schema/message.ts';
import { Invalid } from '../schema/outcome.ts';
import { defineState, update } from '../tools/state.ts';
import { produce, type Step, type Turn } from './turn.ts';

/**
 * Parts of an answer that are not text: where they wait, and how they join the answer.
 *
 * Guarantees: what a tool or a plugin adds is told in the stream at once, and kept with the state of the run until an
 * answer takes it, so that it is as durable as the result that it came with: a crash loses neither or both. Who adds
 * again after a failed attempt replaces what the attempt has added. The answer that takes it is the one that asks for
 * no more tools; what none has taken when the run comes to an end of its own is an answer by itself. A run that fails
 * or is cancelled leaves nothing.
 * Costs a part one more write of its bytes, which is over with the next answer.
 */

const Block = z.custom<PartBlock>((value) => {
  const read = ContentBlock.safeParse(value);
  return read.success && isPartBlock(read.data);
});

/** `by`: what added them, where an attempt that is repeated would add them again. */
const Added = z.object({ by: z.string().optional(), blocks: z.array(Block) });
type Added = z.infer<typeof Added>;

const waitingParts = defineState({
  key: '__runtime.answer_parts',
  scope: 'run',
  hidden: true,
  schema: z.array(Added),
});

const addedTo = ({ state }: Pick<Turn, 'state'>): readonly Added[] => state.view().get(waitingParts) ?? [];

/** What waits for the next answer of a run, in its order. */
export const partsWaiting = (turn: Pick<Turn, 'state'>): PartBlock[] =>
  addedTo(turn).flatMap(({ blocks }) => blocks);

/** Why the answer that comes next cannot hold these as well; undefined when it can. */
export const excessWith = (turn: Turn, blocks: readonly PartBlock[], by?: string): string | undefined => {
  if (blocks.length === 0) return undefined;
  // Those of a failed attempt make room for the same again.
  const others = addedTo(turn).filter((each) => by === undefined || each.by !== by);
  const given = turn.step?.parts.map(({ block }) => block).filter(isPartBlock) ?? [];
  return excessOf([...others.flatMap((each) => each.blocks), ...given], blocks);
};

/** They have been found to fit. */
export const addParts = (turn: Turn, blocks: readonly PartBlock[], by?: string): void => {
  if (blocks.length === 0) return;
  const added = addedTo(turn);
  const before = by === undefined ? undefined : added.find((each) => each.by === by);
  if (before && isDeepStrictEqual(before.blocks, blocks)) return;
  const now: Added = { ...(by !== undefined && { by }), blocks: [...blocks] };
  const all = before ? added.map((each) => (each === before ? now : each)) : [...added, now];
  turn.state.apply([update(waitingParts, [...all])]);
  for (const block of blocks) tellPart(turn, block);
};

/** Of somebody whom no error would reach: what cannot be taken is left out, and the operator is told. */
const admitted = (
  turn: Turn,
  part: AnswerPart,
  { of, beside = [], by }: { of: object; beside?: readonly PartBlock[]; by?: string | undefined },
): PartBlock | undefined => {
  try {
    const block = blockOfPart(part);
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
  turn.warn({ ...of, problem }, 'a part of an answer is left out');

/** Of whoever gives the answer, behind the text that has come so far. */
export const hearPart = (turn: Turn, step: Step, part: AnswerPart, of: object): void => {
  const block = admitted(turn, part, { of });
  if (!block) return;
  step.parts.push({ at: step.text.length, block });
  tellPart(turn, block);
};

/** Those of a plugin. */
export const addAdmitted = (turn: Turn, parts: readonly AnswerPart[], of: object, by?: string): void => {
  const blocks: PartBlock[] = [];
  for (const part of parts) {
    const block = admitted(turn, part, { of, beside: blocks, by });
    if (block) blocks.push(block);
  }
  addParts(turn, blocks, by);
};

/** Readers see it when it is there, wherever in a message it will stand. */
const tellPart = (turn: Turn, block: PartBlock): void =>
  turn.stream.emit({
    event_type: 'activity_snapshot',
    message_id: turn.ids.uuid(),
    ...activityOfBlock(block),
    replace: true,
  });

/** From now on they are the business of whoever has taken them. */
export const takeParts = (turn: Turn): PartBlock[] => {
  const blocks = partsWaiting(turn);
  if (blocks.length > 0) turn.state.apply([update(waitingParts, undefined)]);
  return blocks;
};

/** What came behind the answer joins it as long as it is not durable, and else waits for the next one. */
export const joinAnswer = (turn: Turn, message_id: string): void => {
  const waiting = partsWaiting(turn);
  const index = turn.produced.findIndex(({ id }) => id === message_id);
  const answer = turn.produced[index];
  if (!answer || answer.tool_calls || excessOf(answer.content.filter(isPartBlock), waiting) !== undefined)
    return;
  if (waiting.length > 0)
    turn.produced[index] = { ...answer, content: [...answer.content, ...takeParts(turn)] };
};

/** The run comes to an end of its own: what still waits belongs to its last answer, or is one itself. */
export const keepLeftParts = (turn: Turn): void => {
  const last = turn.produced.at(-1);
  if (last?.role === 'assistant' && !last.tool_calls) joinAnswer(turn, last.id);
  const content = takeParts(turn);
  if (content.length > 0) produce(turn, { id: turn.ids.uuid(), role: 'assistant', content });
};
