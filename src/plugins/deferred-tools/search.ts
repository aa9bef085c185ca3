import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';

/**
 * The query language of `ToolSearch` (agent-loop.md 14.4): `select:a,b` names ids; `+must words` asks for tools
 * that contain `must`; plain words ask for tools that contain any. More words found ranks higher, and among
 * equals the order of the catalogue stands.
 *
 * `limit` does not cut a selection: whoever names a tool wants it.
 */
export const searchTools = (
  tools: readonly ToolDescriptor[],
  query: string,
  limit: number,
): ToolDescriptor[] => {
  if (query.startsWith(SELECT)) return selected(tools, query.slice(SELECT.length));
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const must = words.filter(isMust).map((word) => word.slice(1));
  const wished = words.filter((word) => !isMust(word));
  return tools
    .map((tool) => ({ tool, text: textOf(tool) }))
    .filter(({ text }) => must.every((word) => text.includes(word)))
    .map(({ tool, text }) => ({ tool, hits: wished.filter((word) => text.includes(word)).length }))
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
