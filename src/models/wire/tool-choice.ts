import { nameForModel } from '../../schema/model-tool.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import type { InferenceRequest } from '../model.ts';

/** The tools of a request and the permitted use of them, before a format encodes them. */
export type ChosenTools = {
  tools: readonly ToolDescriptor[];
  /** `name`: the tool's name for the model. */
  choice: 'auto' | 'none' | 'required' | { name: string } | undefined;
};

/**
 * Resolves the tool choice of a request. A choice without tools is omitted, because every service rejects it, and so is
 * the choice of a tool that is not offered.
 *
 * `canForce`: the service accepts a forced call in this request. Otherwise the model may choose not to call, and a tool
 * that was named is the only one that is offered.
 */
export function chooseTools(
  { tools, toolChoice }: Pick<InferenceRequest, 'tools' | 'toolChoice'>,
  canForce: boolean,
): ChosenTools {
  if (toolChoice === undefined || tools.length === 0) return { tools, choice: undefined };
  if (typeof toolChoice === 'string') {
    return { tools, choice: toolChoice === 'required' && !canForce ? 'auto' : toolChoice };
  }
  const named = tools.filter(({ id }) => id === toolChoice.tool);
  if (named.length === 0) return { tools, choice: undefined };
  return canForce
    ? { tools, choice: { name: nameForModel(toolChoice.tool) } }
    : { tools: named, choice: 'auto' };
}
