import { isRemembered, memoryProblem } from '../plugins/permission/decision.ts';
import { type Json, type Tool, ToolError } from '../tools/tool.ts';
import { checkedArguments } from '../tools/validate.ts';
import type { ResolvedAgent } from './agent.ts';

/** Checks the options of a decision before it is accepted. Each check returns the problem. */

export { isRemembered, memoryProblem };

/** Checks arguments that a decision substitutes for those of the model. */
export const editProblem = async (
  { tools }: Pick<ResolvedAgent, 'tools'>,
  { tool: id, arguments: args }: { tool: string; arguments: Json },
): Promise<string | undefined> => {
  const tool = tools.get(id);
  if (!tool) return ToolError.unknownTool(id).message;
  const refused = tool.refuses?.(args);
  if (refused) return refused.message;
  try {
    await checkedArguments(described(tool), args, () => {});
    return undefined;
  } catch (error) {
    if (error instanceof ToolError) return error.message;
    throw error;
  }
};

/** A tool that validates its arguments only during execution is checked by its schema here. */
const described = (tool: Tool): Tool => (tool.refuses ? tool : { ...tool, checksOwnArguments: false });
