import { randomUUID } from 'node:crypto';
import type { Json, JsonObject } from '../../schema/json.ts';
import type { ProviderCall, ProviderTool, ProviderToolType } from '../../schema/provider-tool.ts';
import { listOf, objectOf, textOf } from './read.ts';
import type { AnswerWriter } from './wire.ts';

/**
 * Tools that Gemini executes: their form in a request, the reports of their calls, and their form in later requests.
 *
 * Code is executed between two parts of the completion. Searches and fetched pages are reported in the completion's
 * metadata, and also as parts if the request has functions.
 */

export const builtInTools = (tools: readonly ProviderTool[] = []): JsonObject[] => tools.map(builtInTool);

const builtInTool = (tool: ProviderTool): JsonObject => {
  switch (tool.type) {
    case 'web_search':
      return { googleSearch: { ...(tool.blocked_domains && { excludeDomains: tool.blocked_domains }) } };
    case 'web_fetch':
      return { urlContext: {} };
    case 'code_execution':
      return { codeExecution: {} };
    case 'file_search':
      return {
        fileSearch: {
          fileSearchStoreNames: tool.store_ids,
          ...(tool.max_results !== undefined && { topK: tool.max_results }),
        },
      };
  }
};

const TYPES: readonly [type: RegExp, tool: ProviderToolType][] = [
  [/SEARCH_WEB|GOOGLE_SEARCH/, 'web_search'],
  [/URL_CONTEXT/, 'web_fetch'],
  [/FILE_SEARCH/, 'file_search'],
  [/CODE_EXECUTION/, 'code_execution'],
];

const toolOf = (
  call: JsonObject | undefined,
  response: JsonObject | undefined,
): ProviderToolType | undefined => {
  const type = call?.toolType ?? response?.toolType;
  return typeof type === 'string' ? TYPES.find(([pattern]) => pattern.test(type))?.[1] : undefined;
};

/** The calls of one completion. */
export type BuiltInCalls = {
  /** Reads a part. Returns whether it belongs to a call that Gemini executes. */
  part(part: JsonObject): boolean;
  metadata(candidate: JsonObject): void;
  /** Called at the end of the completion. */
  end(): void;
};

export const createBuiltInCalls = (answer: AnswerWriter): BuiltInCalls => {
  /** Calls without a result, the oldest first. */
  const open: { id: string; given: string | undefined; tool: ProviderToolType }[] = [];
  const asParts = new Set<ProviderToolType>();
  let searched: JsonObject | undefined;
  let fetched: JsonObject | undefined;

  const begin = (tool: ProviderToolType, given: Json | undefined, input: JsonObject): void => {
    const id = `${tool}-${randomUUID()}`;
    open.push({ id, given: textOf(given), tool });
    answer.providerCall({ id, tool, status: 'running', input });
  };
  const finish = (
    tool: ProviderToolType,
    given: Json | undefined,
    end: Pick<ProviderCall, 'status' | 'output' | 'error'>,
  ): void => {
    const named = open.findIndex((each) => each.tool === tool && each.given === given);
    const at = named < 0 ? open.findIndex((each) => each.tool === tool) : named;
    const [call] = at < 0 ? [] : open.splice(at, 1);
    answer.providerCall({ id: call?.id ?? `${tool}-${randomUUID()}`, tool, ...end });
  };

  return {
    part(part) {
      const code = objectOf(part.executableCode);
      const result = objectOf(part.codeExecutionResult);
      const call = objectOf(part.toolCall);
      const response = objectOf(part.toolResponse);
      const tool = code || result ? 'code_execution' : toolOf(call, response);
      if (tool === undefined) return call !== undefined || response !== undefined;
      if (code) begin(tool, code.id, codeOf(code));
      else if (result) finish(tool, result.id, outcomeOf(result));
      else if (call) begin(tool, call.id, inputOf(tool, objectOf(call.args) ?? {}));
      else finish(tool, response?.id, { status: 'completed', output: objectOf(response?.response) ?? {} });
      asParts.add(tool);
      answer.reasoningItem({ part }, tool);
      return true;
    },
    metadata({ groundingMetadata, urlContextMetadata }) {
      searched = objectOf(groundingMetadata) ?? searched;
      fetched = objectOf(urlContextMetadata) ?? fetched;
    },
    end() {
      for (const call of [fetchOf(fetched), searchOf(searched)]) {
        if (!call || asParts.has(call.tool)) continue;
        answer.providerCall({ id: `${call.tool}-${randomUUID()}`, ...call });
      }
    },
  };
};

const codeOf = ({ code, language }: JsonObject): JsonObject => ({
  code: textOf(code) ?? '',
  ...(typeof language === 'string' && { language: language.toLowerCase() }),
});

const inputOf = (tool: ProviderToolType, args: JsonObject): JsonObject => {
  if (tool === 'web_fetch' && Array.isArray(args.urls)) return { urls: args.urls };
  return Array.isArray(args.queries) ? { queries: args.queries } : args;
};

const outcomeOf = ({ outcome, output }: JsonObject): Pick<ProviderCall, 'status' | 'output' | 'error'> => {
  const stdout = textOf(output) ?? '';
  return outcome === 'OUTCOME_OK' || outcome === undefined
    ? { status: 'completed', output: { stdout } }
    : { status: 'failed', output: { stdout }, error: textOf(outcome) ?? 'the code failed' };
};

type Reported = Pick<ProviderCall, 'tool' | 'status' | 'input' | 'output' | 'error'>;

/** A web or file store search, from the grounding metadata of a completion. */
const searchOf = (grounding: JsonObject | undefined): Reported | undefined => {
  if (!grounding) return undefined;
  const queries = listOf(grounding.webSearchQueries).filter((query) => typeof query === 'string');
  const chunks = listOf(grounding.groundingChunks).map((each) => objectOf(each) ?? {});
  const passages = chunks
    .map(({ retrievedContext }) => objectOf(retrievedContext))
    .filter((each) => each !== undefined);
  if (passages.length > 0 && queries.length === 0)
    return { tool: 'file_search', status: 'completed', output: { results: passages } };
  if (queries.length === 0) return undefined;
  const results = chunks.flatMap(({ web }): JsonObject[] => {
    const { uri, title } = objectOf(web) ?? {};
    return typeof uri === 'string' ? [{ url: uri, ...(typeof title === 'string' && { title }) }] : [];
  });
  return { tool: 'web_search', status: 'completed', input: { queries }, output: { results } };
};

const fetchOf = (metadata: JsonObject | undefined): Reported | undefined => {
  const pages = listOf(metadata?.urlMetadata).flatMap((each): JsonObject[] => {
    const { retrievedUrl: url, urlRetrievalStatus: status } = objectOf(each) ?? {};
    return typeof url === 'string' ? [{ url, ...(typeof status === 'string' && { status }) }] : [];
  });
  if (pages.length === 0) return undefined;
  const input = { urls: pages.map(({ url }) => url ?? '') };
  const failed = pages.every(({ status }) => typeof status === 'string' && !status.endsWith('SUCCESS'));
  return failed
    ? { tool: 'web_fetch', status: 'failed', input, output: { pages }, error: 'no page could be fetched' }
    : { tool: 'web_fetch', status: 'completed', input, output: { pages } };
};

/** The part in an item that was stored above. */
export const keptPart = (item: JsonObject): JsonObject | undefined => objectOf(item.part);

/** Removes calls without a result and results without a call, because a completion may have been truncated. */
export const pairedParts = (parts: readonly JsonObject[]): JsonObject[] => {
  const unpaired = new Set<JsonObject>();
  const open: { key: string; part: JsonObject }[] = [];
  for (const part of parts) {
    const callKey = keyOf(part, 'executableCode', 'toolCall');
    const resultKey = keyOf(part, 'codeExecutionResult', 'toolResponse');
    if (callKey !== undefined) open.push({ key: callKey, part });
    if (resultKey === undefined) continue;
    const at = open.findIndex(({ key }) => key === resultKey);
    if (at < 0) unpaired.add(part);
    else open.splice(at, 1);
  }
  for (const { part } of open) unpaired.add(part);
  return parts.filter((part) => !unpaired.has(part));
};

const keyOf = (part: JsonObject, code: string, tool: string): string | undefined => {
  if (objectOf(part[code])) return 'code';
  const call = objectOf(part[tool]);
  return call && `tool ${textOf(call.id) ?? ''}`;
};
