import type { Json, JsonObject } from '../../schema/json.ts';
import type { ProviderCall, ProviderTool, ProviderToolType } from '../../schema/provider-tool.ts';
import { listOf, objectOf, textOf } from './read.ts';
import type { AnswerWriter } from './wire.ts';

/** Tools that OpenAI executes: how a request offers them, and how their items are reported and sent back. */

/** The limit is one of the whole request, so it is sent where the request has no other of these tools. */
export const limitOf = (tools: readonly ProviderTool[] = []): JsonObject => {
  const [only, ...others] = tools;
  const most = only && others.length === 0 && 'max_uses' in only ? only.max_uses : undefined;
  return most === undefined ? {} : { max_tool_calls: most };
};

/** What the items contain only on request. */
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

/** Undefined for every other item. */
export const toolOfItem = ({ type }: JsonObject): ProviderToolType | undefined => TOOLS.get(type);

/** Reports calls by their items; the place of an item identifies it where it has no id. */
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
    /** All of the code, before it is executed. */
    code({ item_id, code }: JsonObject): void {
      if (typeof item_id !== 'string' || typeof code !== 'string' || ended.has(item_id)) return;
      answer.providerCall({
        id: item_id,
        tool: 'code_execution',
        status: 'running',
        input: { code, language: 'python' },
      });
    },
    /** `isNext`: nothing that stands behind the item in the answer was written before. */
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
    const asked = Array.isArray(queries) ? queries : listedText(query);
    const input = { ...(asked.length > 0 && { queries: asked }), ...rest };
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

/** Pictures that the code has made. */
const filesOf = ({ outputs }: JsonObject): string[] =>
  listOf(outputs).flatMap((each) => {
    const output = objectOf(each);
    return output?.type === 'image' ? (textOf(output.url) ?? []) : [];
  });

const DATA_URL = /^data:([^;,]+);base64,/;

const reportFile = (answer: AnswerWriter, url: string): void => {
  const inline = DATA_URL.exec(url);
  if (inline?.[1] === undefined) answer.fileAt('image/png', url);
  else answer.file(inline[1], url.slice(inline[0].length));
};

/**
 * The item as a later request contains it: without its id, because the provider stores no item, and without what only a
 * response has.
 */
const returnedItem = ({ id: _, action: given, ...item }: JsonObject): JsonObject => {
  const action = objectOf(given);
  if (!action) return item;
  const { sources: _sources, ...asked } = action;
  return { ...item, action: asked };
};
