import type { InferenceRequest } from '../../models/model.ts';
import { describePart, isPartBlock } from '../../schema/answer-part.ts';
import type { ContentBlock, Message, ToolCall } from '../../schema/message.ts';
import { isSource } from '../../schema/provider-tool.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import { mediaTokens } from './media-tokens.ts';
import { textTokens } from './text-tokens.ts';

/**
 * Tokens of a request, estimated without a tokenizer (agent-loop.md 12.1).
 *
 * Relies on: messages and descriptors are never changed, so each is measured once.
 */

const PER_MESSAGE = 4;
const PER_TOOL = 10;
/** Minimum for a call and for a block other than text. */
const PER_BLOCK = 50;

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

export const estimateText = (text: string): number => PER_MESSAGE + textTokens(text);

export const estimateMessage = once<Message>(({ role, content, tool_calls = [] }) => {
  let estimate = PER_MESSAGE;
  const ofBlock = role === 'assistant' ? answerTokens : blockTokens;
  for (const block of content) estimate += ofBlock(block);
  for (const call of tool_calls) estimate += callTokens(call);
  return estimate;
});

const blockTokens = (block: ContentBlock): number => {
  switch (block.type) {
    case 'text':
      return textTokens(block.text);
    case 'image':
    case 'document':
    case 'audio':
    case 'video':
      return mediaTokens(block.type, block.source);
    default:
      return PER_BLOCK;
  }
};

/** Parts of a completion other than text are only mentioned in a request. Sources are not sent. */
const answerTokens = (block: ContentBlock): number => {
  if (isSource(block)) return 0;
  return isPartBlock(block) ? Math.max(PER_BLOCK, textTokens(describePart(block))) : blockTokens(block);
};

/** A call counts as a block, or as its text when that is longer. */
const callTokens = ({ name, arguments: args }: ToolCall): number =>
  Math.max(PER_BLOCK, textTokens(name) + textTokens(JSON.stringify(args)));

export const estimateMessages = (messages: readonly Message[]): number => {
  let sum = 0;
  for (const message of messages) sum += estimateMessage(message);
  return sum;
};

const estimateTool = once<ToolDescriptor>(
  ({ id, description, parameters }) =>
    PER_TOOL + textTokens(id) + textTokens(description) + textTokens(JSON.stringify(parameters)),
);

export const estimateTools = (tools: readonly ToolDescriptor[]): number => {
  let sum = 0;
  for (const tool of tools) sum += estimateTool(tool);
  return sum;
};

export const estimateRequest = ({
  system,
  messages,
  tools,
}: Pick<InferenceRequest, 'system' | 'messages' | 'tools'>): number =>
  system.reduce((sum, each) => sum + estimateText(each), 0) +
  estimateMessages(messages) +
  estimateTools(tools);
