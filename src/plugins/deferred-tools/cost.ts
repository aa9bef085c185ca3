import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';

/** Estimated tokens of a tool in a request (agent-loop.md 14.4): four characters are about a token. */

const FEWEST_FULL = 10;
const FEWEST_LISTED = 1;

/** With its schema. */
const fullCost = ({ parameters }: ToolDescriptor): number =>
  Math.max(FEWEST_FULL, JSON.stringify(parameters).length / 4);

/** Only its name, which for a model is the id. */
const listedCost = ({ id }: ToolDescriptor): number => Math.max(FEWEST_LISTED, id.length / 4);

/** What one request saves when the tool is deferred. */
export const savingOf = (tool: ToolDescriptor): number => fullCost(tool) - listedCost(tool);
