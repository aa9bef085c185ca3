import { z } from 'zod';
import { JsonObject } from '../schema/json.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';

/** A tool that the client executes, declared in a request for the run of that request only. */

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

export const toDescriptor = ({ name, description, parameters }: FrontendTool): ToolDescriptor => ({
  id: name,
  name,
  description,
  parameters,
  category: null,
});
