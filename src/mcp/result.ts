import { z } from 'zod';
import type { Json, JsonObject } from '../schema/endpoint.ts';
import { JsonObject as JsonObjectSchema } from '../schema/json.ts';
import { shownJson } from '../tools/media-text.ts';
import { ToolError, type ToolOutput } from '../tools/tool.ts';

/** The result of a call for the agent (mcp.md B8). Content of every type is passed unchanged. */

export const CallResult = z.looseObject({
  content: z.array(JsonObjectSchema).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional().catch(undefined),
});
export type CallResult = z.infer<typeof CallResult>;

/** @throws ToolError when the server reports that the call failed */
export const toToolOutput = (result: CallResult, known: JsonObject): ToolOutput => {
  const output = { data: dataOf(result), metadata: { ...known, ...metadataOf(result) } };
  if (result.isError !== true) return output;
  throw new ToolError('execution_failed', complaintOf(result), { output });
};

const dataOf = (result: CallResult): Json =>
  result.structuredContent === undefined && result.content.every(isPlainText)
    ? textsOf(result).join('\n')
    : jsonOf(result);

const isPlainText = ({ type, text, annotations, _meta }: JsonObject): boolean =>
  type === 'text' && typeof text === 'string' && annotations === undefined && _meta === undefined;

const textsOf = ({ content }: CallResult): string[] =>
  content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));

const complaintOf = (result: CallResult): string => {
  const texts = textsOf(result).join('\n');
  if (texts !== '') return texts;
  if (result.structuredContent !== undefined) return shownJson(jsonOf(result.structuredContent)).text;
  return result.content.length > 0 ? shownJson(result.content).text : 'Unknown error';
};

const metadataOf = ({ content, structuredContent, isError }: CallResult): JsonObject => ({
  ...(content.length > 0 && { 'mcp.result.content': content }),
  ...(structuredContent !== undefined && { 'mcp.result.structuredContent': jsonOf(structuredContent) }),
  ...(isError === true && { 'mcp.result.isError': true }),
});

/** The value was produced by `JSON.parse`. */
const jsonOf = (value: unknown): Json => value as Json;
