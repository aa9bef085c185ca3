import { isObject } from '../../schema/endpoint.ts';
import type { Json, JsonObject } from '../../schema/json.ts';
import type { SentTool } from '../tool-names.ts';

/** A tool in the form of the Messages API. */
export function anthropicTool({ name, description: given, parameters }: SentTool): JsonObject {
  const { schema, others } = withLegalKeys(parameters);
  const description = [given.trim() === '' ? '' : given, ...others].filter((text) => text !== '').join('\n');
  return {
    name,
    ...(description !== '' && { description }),
    input_schema: schema,
    // Arguments are streamed as the model writes them instead of only when they are complete.
    eager_input_streaming: true,
  };
}

/** The API rejects a request with any other argument name. */
const LEGAL_KEY = /^[A-Za-z0-9_.-]{1,64}$/;

/** Moves arguments with other names to the description, so that the model can still write them. */
function withLegalKeys(schema: JsonObject): { schema: JsonObject; others: string[] } {
  const { properties, required, additionalProperties: _, ...rest } = schema;
  const entries = Object.entries(isObject(properties) ? properties : {});
  const illegal = entries.filter(([name]) => !LEGAL_KEY.test(name));
  if (illegal.length === 0) return { schema, others: [] };
  const names: readonly Json[] = Array.isArray(required) ? required : [];
  const needed = names.filter((name) => typeof name === 'string' && LEGAL_KEY.test(name));
  return {
    schema: {
      ...rest,
      properties: Object.fromEntries(entries.filter(([name]) => LEGAL_KEY.test(name))) as JsonObject,
      ...(needed.length > 0 && { required: needed }),
    },
    others: illegal.map(([name, each]) => {
      const kind = names.includes(name) ? 'Required argument' : 'Optional argument';
      return `${kind} ${JSON.stringify(name)}, by JSON Schema: ${JSON.stringify(each)}`;
    }),
  };
}
