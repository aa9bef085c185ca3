import type { JsonObject } from '../../schema/endpoint.ts';
import type { Tool } from '../../tools/tool.ts';
import { makePart, type PartOf } from './parts.ts';

/** Tools with the descriptions of operators (config.md 5.2). The part of a tool is reused while both are unchanged. */

const known = new WeakMap<Tool, PartOf<'tool'>>();

export const toolPart = (tool: Tool, description: string = tool.descriptor.description): PartOf<'tool'> => {
  const before = known.get(tool);
  if (before?.entry.descriptor.description === description) return before;
  const { descriptor } = tool;
  const entry =
    description === descriptor.description ? tool : { ...tool, descriptor: { ...descriptor, description } };
  const part = makePart('tool', { id: descriptor.id, value: toolSpec(entry), entry });
  known.set(tool, part);
  return part;
};

/** Returns the record of a tool (config.md 3.7). */
export const toolSpec = ({ descriptor }: Tool): JsonObject => {
  const { id, name, description, category, parameters } = descriptor;
  return { id, name, description, ...(category !== null && { category }), parameters_schema: parameters };
};
