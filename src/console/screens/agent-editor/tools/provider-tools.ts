import { isObject, type JsonObject } from '../../../data/guard.ts';

/** Tools that the model provider executes, as an agent lists them. Options that have no control here are kept. */

export const PROVIDER_TOOLS = ['web_search', 'web_fetch', 'code_execution', 'file_search'] as const;
export type ProviderToolType = (typeof PROVIDER_TOOLS)[number];

/** The option of a tool that is a list of texts. */
export const LISTS = {
  web_search: 'allowed_domains',
  web_fetch: 'allowed_domains',
  code_execution: 'file_ids',
  file_search: 'store_ids',
} as const satisfies Record<ProviderToolType, string>;

export const toolsOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter((item) => isObject(item)) : [];

export const toolOf = (value: unknown, type: ProviderToolType): JsonObject | undefined =>
  toolsOf(value).find((tool) => tool.type === type);

export const withTool = (
  value: unknown,
  type: ProviderToolType,
  tool: JsonObject | undefined,
): JsonObject[] => {
  const tools = toolsOf(value);
  const at = tools.findIndex((each) => each.type === type);
  if (!tool) return tools.filter((_, index) => index !== at);
  return at < 0 ? [...tools, tool] : tools.with(at, tool);
};

/** The items that a text names, separated by commas or blanks. */
export const itemsIn = (text: string): string[] => text.split(/[\s,]+/).filter((item) => item !== '');

/** An empty list is left out, because the service refuses one; stores are required. */
export const withItems = (tool: JsonObject, type: ProviderToolType, items: readonly string[]): JsonObject => {
  const { [LISTS[type]]: _, ...rest } = tool;
  return items.length === 0 && type !== 'file_search' ? rest : { ...rest, [LISTS[type]]: [...items] };
};
