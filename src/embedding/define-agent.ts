import { z } from 'zod';
import type { AgentInput } from '../schema/agent.ts';
import type { JsonObject } from '../schema/json.ts';

/** Agents defined in a program, with the type of their structured result. */

const OUTPUT = Symbol('output');

/**
 * An agent for `createTroupe` that carries the result type of `troupe.run`. `defineAgent` makes it.
 *
 * @example
 * ```ts
 * const triage: DefinedAgent<{ urgent: boolean }> = defineAgent({
 *   id: 'triage',
 *   model_id: 'default',
 *   output: z.object({ urgent: z.boolean() }),
 * });
 * ```
 */
export type DefinedAgent<Output = string> = AgentInput & { readonly [OUTPUT]: z.ZodType<Output> | undefined };

type Definition<Output> = Omit<AgentInput, 'output_schema'> & {
  /** Schema of the result of every run. */
  output: z.ZodType<Output>;
};

/**
 * Defines an agent whose runs end with a value of `output`, or with text if `output` is omitted.
 *
 * @throws Error for a schema that JSON Schema cannot express
 * @example
 * ```ts
 * const triage = defineAgent({
 *   id: 'triage',
 *   model_id: 'default',
 *   output: z.object({ team: z.enum(['billing', 'tech']), urgent: z.boolean() }),
 * });
 * const { output } = await troupe.run(triage, 'My invoice is wrong');
 * if (output.urgent) console.log(`urgent, for ${output.team}`);
 * ```
 */
export function defineAgent<Output>(definition: Definition<Output>): DefinedAgent<Output>;
/** Defines an agent whose runs end with text. */
export function defineAgent(definition: AgentInput & { output?: undefined }): DefinedAgent;
export function defineAgent({
  output,
  ...agent
}: AgentInput & { output?: z.ZodType<unknown> | undefined }): DefinedAgent<unknown> {
  return { ...agent, ...(output && { output_schema: toJsonSchema(output) }), [OUTPUT]: output };
}

/** The result schema of a defined agent. */
export const outputOf = <Output>(agent: DefinedAgent<Output>): z.ZodType<Output> | undefined => agent[OUTPUT];

/** The model writes the input of the schema. Objects are closed because parsing drops additional properties anyway. */
export const toJsonSchema = (schema: z.ZodType): JsonObject => {
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
