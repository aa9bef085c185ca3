import { blocksOfParts, type PartBlock } from '../schema/answer-part.ts';
import type { InputBlock } from '../schema/message.ts';
import { Invalid } from '../schema/outcome.ts';
import { jsonOutput } from './json-output.ts';
import { ToolError, type ToolOutput } from './tool.ts';
import { checkedContent } from './tool-content.ts';

/** An output that can be sent and stored, with the final form of its content and parts. */
export type CheckedOutput = {
  output: ToolOutput;
  content?: readonly InputBlock[];
  parts: readonly PartBlock[];
};

/** Returns the failure to report to the model for an output that cannot be sent or stored. */
export const checkedOutput = (given: ToolOutput): CheckedOutput | ToolError => {
  const output = jsonOutput(given);
  if (output instanceof ToolError) return output;
  try {
    const content = output.content && checkedContent(output.content);
    return { output, parts: output.parts ? blocksOfParts(output.parts) : [], ...(content && { content }) };
  } catch (error) {
    if (error instanceof Invalid) return new ToolError('execution_failed', error.message);
    throw error;
  }
};
