import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import { textTokens } from '../context/text-tokens.ts';

/** Estimated tokens of a tool in a request (agent-loop.md 14.4). */

const FEWEST_FULL = 10;
const FEWEST_LISTED = 1;

/** With its schema. */
const fullCost = ({ parameters }: ToolDescriptor): number =>
  Math.max(FEWEST_FULL, textTokens(JSON.stringify(parameters)));

/** Only its name, which for a model is the id. */
const listedCost = ({ id }: ToolDescriptor): number => Math.max(FEWEST_LISTED, textTokens(id));

/** What one request saves when the tool is deferred. */
export const savingOf = (tool: ToolDescriptor): number => fullCost(tool) - listedCost(tool);
