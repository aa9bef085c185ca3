import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';

/**
 * The query language of `ToolSearch` (agent-loop.md 14.4): `select:a,b` selects ids; `+must words` finds tools that
 * contain `must`; plain words find tools that contain any of them. Tools that contain more words rank higher; ties keep
 * the order of the catalog.
 *
 * `limit` does not truncate a selection, because every tool in it was requested by id.
 */
export const searchTools = (
  tools: readonly ToolDescriptor[],
  query: string,
  limit: number,
): ToolDescriptor[] => {
  if (query.startsWith(SELECT)) return selected(tools, query.slice(SELECT.length));
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const must = words.filter(isMust).map((word) => word.slice(1));
  const optionalWords = words.filter((word) => !isMust(word));
  return tools
    .map((tool) => ({ tool, text: textOf(tool) }))
    .filter(({ text }) => must.every((word) => text.includes(word)))
    .map(({ tool, text }) => ({ tool, hits: optionalWords.filter((word) => text.includes(word)).length }))
    .filter(({ hits }) => hits > 0 || must.length > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, limit)
    .map(({ tool }) => tool);
};

const SELECT = 'select:';

const selected = (tools: readonly ToolDescriptor[], ids: string): ToolDescriptor[] => {
  const wanted = new Set(ids.split(',').map((id) => id.trim()));
  return [...wanted].flatMap((id) => tools.find((tool) => tool.id === id) ?? []);
};

const isMust = (word: string): boolean => word.length > 1 && word.startsWith('+');

const textOf = ({ id, name, description }: ToolDescriptor): string =>
  [id, name, description].join('\n').toLowerCase();
