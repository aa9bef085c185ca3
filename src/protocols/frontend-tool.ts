import { z } from 'zod';
import { JsonObject } from '../schema/json.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';

/** A tool that the client executes, declared with a request, for the run of that request alone. */

const DEFAULTS = { description: 'Frontend tool', parameters: { type: 'object', properties: {} } };

export const FrontendTool = z
  .object({
    name: z.string(),
    description: z.string().nullish(),
    parameters: JsonObject.nullish(),
  })
  .transform(({ name, description, parameters }) => ({
    name,
    description: description ?? DEFAULTS.description,
    parameters: parameters ?? DEFAULTS.parameters,
  }));
export type FrontendTool = z.output<typeof FrontendTool>;

export const descriptorOf = ({ name, description, parameters }: FrontendTool): ToolDescriptor => ({
  id: name,
  name,
  description,
  parameters,
  category: null,
});
