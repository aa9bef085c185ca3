import { isPartBlock, wordsForPart } from '../../schema/answer-part.ts';
import type { ContentBlock, Message, ToolCall } from '../../schema/message.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';

/**
 * Tokens of a request, estimated without a tokenizer (agent-loop.md 12.1): four characters are a token.
 *
 * Relies on: messages and descriptors are never changed, so each is measured once.
 * Characters are UTF-16 units: what `length` says costs nothing.
 */

const PER_MESSAGE = 4;
const PER_TOOL = 10;
/** Of everything that is not text. */
const PER_BLOCK = 50;

const tokens = (characters: number): number => Math.floor(characters / 4);

const measured = new WeakMap<Message | ToolDescriptor, number>();

const once = <Measured extends Message | ToolDescriptor>(
  measure: (given: Measured) => number,
): ((given: Measured) => number) => {
  return (given) => {
    const known = measured.get(given);
    if (known !== undefined) return known;
    const estimate = measure(given);
    measured.set(given, estimate);
    return estimate;
  };
};

export const estimateText = (text: string): number => PER_MESSAGE + tokens(text.length);

export const estimateMessage = once<Message>(({ role, content, tool_calls = [] }) => {
  let estimate = PER_MESSAGE;
  const ofBlock = role === 'assistant' ? answerTokens : blockTokens;
  for (const block of content) estimate += ofBlock(block);
  for (const call of tool_calls) estimate += callTokens(call);
  return estimate;
});

const blockTokens = (block: ContentBlock): number =>
  block.type === 'text' ? tokens(block.text.length) : PER_BLOCK;

/** What an answer held besides its text is named in a request, at most. */
const answerTokens = (block: ContentBlock): number =>
  isPartBlock(block) ? Math.max(PER_BLOCK, tokens(wordsForPart(block).length)) : blockTokens(block);

/** A call counts as a block; long arguments count as the text that they are. */
const callTokens = ({ name, arguments: args }: ToolCall): number =>
  Math.max(PER_BLOCK, tokens(name.length + JSON.stringify(args).length));

export const estimateMessages = (messages: readonly Message[]): number => {
  let sum = 0;
  for (const message of messages) sum += estimateMessage(message);
  return sum;
};

const estimateTool = once<ToolDescriptor>(
  ({ id, description, parameters }) =>
    PER_TOOL + tokens(id.length + description.length + JSON.stringify(parameters).length),
);

export const estimateTools = (tools: readonly ToolDescriptor[]): number => {
  let sum = 0;
  for (const tool of tools) sum += estimateTool(tool);
  return sum;
};
