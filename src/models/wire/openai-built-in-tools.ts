import type { Json, JsonObject } from '../../schema/json.ts';
import { splitDataUrl } from '../../schema/media.ts';
import type { ProviderCall, ProviderTool, ProviderToolType } from '../../schema/provider-tool.ts';
import { listOf, objectOf, textOf } from './read.ts';
import type { AnswerWriter } from './wire.ts';

/**
 * Tools that OpenAI executes: their form in a request, the reports of their items, and their form in later requests.
 */

/** The limit applies to the whole request, so it is sent only if the request has a single provider tool. */
export const callLimit = (tools: readonly ProviderTool[] = []): JsonObject => {
  const [only, ...others] = tools;
  const most = only && others.length === 0 && 'max_uses' in only ? only.max_uses : undefined;
  return most === undefined ? {} : { max_tool_calls: most };
};

/** Item fields that responses contain only on request. */
export const includedBy = (tools: readonly ProviderTool[] = []): string[] =>
  tools.flatMap(({ type }) => INCLUDED.get(type) ?? []);

const INCLUDED: ReadonlyMap<ProviderToolType, string> = new Map([
  ['web_search', 'web_search_call.action.sources'],
  ['code_execution', 'code_interpreter_call.outputs'],
  ['file_search', 'file_search_call.results'],
]);

export const builtInTool = (tool: ProviderTool): JsonObject[] => {
  switch (tool.type) {
    case 'web_search': {
      const { allowed_domains, blocked_domains, user_location, context_size } = tool;
      const filters = {
        ...(allowed_domains && { allowed_domains }),
        ...(blocked_domains && { blocked_domains }),
      };
      return [
        {
          type: 'web_search',
          ...(Object.keys(filters).length > 0 && { filters }),
          ...(user_location && { user_location: { type: 'approximate', ...user_location } }),
          ...(context_size && { search_context_size: context_size }),
        },
      ];
    }
    case 'code_execution':
      return [
        {
          type: 'code_interpreter',
          container: { type: 'auto', ...(tool.file_ids && { file_ids: tool.file_ids }) },
        },
      ];
    case 'file_search':
      return [
        {
          type: 'file_search',
          vector_store_ids: tool.store_ids,
          ...(tool.max_results !== undefined && { max_num_results: tool.max_results }),
        },
      ];
    case 'web_fetch':
      return [];
  }
};

const TOOLS: ReadonlyMap<unknown, ProviderToolType> = new Map([
  ['web_search_call', 'web_search'],
  ['code_interpreter_call', 'code_execution'],
  ['file_search_call', 'file_search'],
]);

/** Undefined for items of other kinds. */
export const toolOfItem = ({ type }: JsonObject): ProviderToolType | undefined => TOOLS.get(type);

/** Reports calls from their items. An item without an id is identified by its position. */
export const createBuiltInCalls = (answer: AnswerWriter) => {
  const ended = new Set<string>();
  const idOf = ({ id }: JsonObject, place: number | undefined): string => textOf(id) || `item-${place ?? ''}`;
  return {
    begin(item: JsonObject, place: number | undefined): void {
      const tool = toolOfItem(item);
      const id = idOf(item, place);
      if (tool === undefined || ended.has(id)) return;
      answer.providerCall({ id, tool, status: 'running', ...inputOf(item) });
    },
    /** Receives the complete code before it is executed. */
    code({ item_id, code }: JsonObject): void {
      if (typeof item_id !== 'string' || typeof code !== 'string' || ended.has(item_id)) return;
      answer.providerCall({
        id: item_id,
        tool: 'code_execution',
        status: 'running',
        input: { code, language: 'python' },
      });
    },
    /** `isNext`: no output that follows the item in the completion was written earlier. */
    end(item: JsonObject, place: number | undefined, isNext: boolean): void {
      const tool = toolOfItem(item);
      const id = idOf(item, place);
      if (tool === undefined || ended.has(id)) return;
      ended.add(id);
      const failed = item.status === 'failed' || item.status === 'incomplete';
      answer.providerCall({
        id,
        tool,
        ...(failed
          ? { status: 'failed', error: `the call is ${item.status}` }
          : { status: 'completed', output: outputOf(tool, item) }),
        ...inputOf(item),
      });
      for (const made of filesOf(item)) reportFile(answer, made);
      if (isNext && !failed) answer.reasoningItem(returnedItem(item), tool);
    },
  };
};
export type BuiltInCalls = ReturnType<typeof createBuiltInCalls>;

const inputOf = (item: JsonObject): Pick<ProviderCall, 'input'> => {
  const action = objectOf(item.action);
  if (action) {
    const { type: _, query, queries, sources: _sources, ...rest } = action;
    const listed = Array.isArray(queries) ? queries : listedText(query);
    const input = { ...(listed.length > 0 && { queries: listed }), ...rest };
    return Object.keys(input).length > 0 ? { input } : {};
  }
  if (typeof item.code === 'string' && item.code !== '')
    return { input: { code: item.code, language: 'python' } };
  return Array.isArray(item.queries) && item.queries.length > 0 ? { input: { queries: item.queries } } : {};
};

const listedText = (text: Json | undefined): Json[] =>
  typeof text === 'string' && text !== '' ? [text] : [];

const outputOf = (tool: ProviderToolType, item: JsonObject): JsonObject => {
  if (tool === 'web_search') {
    const sources = listOf(objectOf(item.action)?.sources);
    return { results: sources.flatMap((each) => urlOf(objectOf(each)) ?? []) };
  }
  if (tool === 'file_search')
    return { results: listOf(item.results).flatMap((each) => objectOf(each) ?? []) };
  const logs = listOf(item.outputs).flatMap((each) => textOf(objectOf(each)?.logs) ?? []);
  return {
    stdout: logs.join('\n'),
    ...(typeof item.container_id === 'string' && { container_id: item.container_id }),
  };
};

const urlOf = (source: JsonObject | undefined): JsonObject | undefined =>
  source && typeof source.url === 'string' ? { url: source.url } : undefined;

/** Pictures that the code created. */
const filesOf = ({ outputs }: JsonObject): string[] =>
  listOf(outputs).flatMap((each) => {
    const output = objectOf(each);
    return output?.type === 'image' ? (textOf(output.url) ?? []) : [];
  });

const reportFile = (answer: AnswerWriter, url: string): void => {
  const inline = splitDataUrl(url);
  if (inline) answer.file(inline.media_type, inline.data);
  else answer.fileAt('image/png', url);
};

/**
 * The item in the form for later requests: without its id, because the provider stores no item, and without fields that
 * only a response has.
 */
const returnedItem = ({ id: _, action: given, ...item }: JsonObject): JsonObject => {
  const action = objectOf(given);
  if (!action) return item;
  const { sources: _sources, ...rest } = action;
  return { ...item, action: rest };
};
