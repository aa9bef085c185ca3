import { z } from 'zod';
import type { AgentInput } from './schema/agent.ts';
import type { JsonObject } from './schema/json.ts';

/** Agents of a program, with the type of their structured result. */

const OUTPUT = Symbol('output');

/** An agent as `createTroupe` takes it, which `troupe.run` gives the type of its result. */
export type DefinedAgent<Output = string> = AgentInput & { readonly [OUTPUT]: z.ZodType<Output> | undefined };

type Definition<Output> = Omit<AgentInput, 'output_schema'> & {
  /** What its runs must end with. */
  output: z.ZodType<Output>;
};

/**
 * An agent whose runs end with a value of a schema, or with text where it has none.
 *
 * @throws Error for a schema that JSON Schema cannot express
 * @example
 * const triage = defineAgent({
 *   id: 'triage',
 *   model_id: 'default',
 *   output: z.object({ team: z.enum(['billing', 'tech']), urgent: z.boolean() }),
 * });
 */
export function defineAgent<Output>(definition: Definition<Output>): DefinedAgent<Output>;
export function defineAgent(definition: AgentInput & { output?: undefined }): DefinedAgent;
export function defineAgent({
  output,
  ...agent
}: AgentInput & { output?: z.ZodType<unknown> | undefined }): DefinedAgent<unknown> {
  return { ...agent, ...(output && { output_schema: jsonSchemaOf(output) }), [OUTPUT]: output };
}

/** The schema of an agent that a program has defined. */
export const outputOf = <Output>(agent: DefinedAgent<Output>): z.ZodType<Output> | undefined => agent[OUTPUT];

/** What a model writes is the input of the schema. Objects are closed, because their other properties are dropped. */
export const jsonSchemaOf = (schema: z.ZodType): JsonObject => {
  const { $schema: _, ...written } = z.toJSONSchema(schema, {
    io: 'input',
    override({ jsonSchema }) {
      if (jsonSchema.properties && jsonSchema.additionalProperties === undefined)
        jsonSchema.additionalProperties = false;
    },
  });
  // A JSON Schema is JSON.
  return written as JsonObject;
};
