import { blocksOfParts, type PartBlock } from '../schema/answer-part.ts';
import type { InputBlock } from '../schema/message.ts';
import { Invalid } from '../schema/outcome.ts';
import { jsonOutput } from './json-output.ts';
import { ToolError, type ToolOutput } from './tool.ts';
import { checkedContent } from './tool-content.ts';
import type { AcceptReferences } from './tool-files.ts';

/** An output that can be sent and stored, with the final form of its content and parts. */
export type CheckedOutput = {
  output: ToolOutput;
  content?: readonly InputBlock[];
  parts: readonly PartBlock[];
};

/** Returns the failure to report to the model for an output that cannot be sent or stored. */
export const checkedOutput = (
  given: ToolOutput,
  accept: AcceptReferences = (content) => [...content],
): CheckedOutput | ToolError => {
  const output = jsonOutput(given);
  if (output instanceof ToolError) return output;
  try {
    // Accepted blocks keep their form: a part is a file or data, and content a text or a file.
    const content = output.content && (accept(checkedContent(output.content)) as InputBlock[]);
    const parts = output.parts ? (accept(blocksOfParts(output.parts)) as PartBlock[]) : [];
    return { output, parts, ...(content && { content }) };
  } catch (error) {
    if (error instanceof Invalid) return new ToolError('execution_failed', error.message);
    throw error;
  }
};
