import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';

/** Estimated tokens of a tool in a request (agent-loop.md 14.4), at four characters per token. */

const FEWEST_FULL = 10;
const FEWEST_LISTED = 1;

/** Cost of a tool with its schema. */
const fullCost = ({ parameters }: ToolDescriptor): number =>
  Math.max(FEWEST_FULL, JSON.stringify(parameters).length / 4);

/** Cost of a tool that is only listed by its id, which is its name for the model. */
const listedCost = ({ id }: ToolDescriptor): number => Math.max(FEWEST_LISTED, id.length / 4);

/** Tokens that deferring the tool saves per request. */
export const savingOf = (tool: ToolDescriptor): number => fullCost(tool) - listedCost(tool);
