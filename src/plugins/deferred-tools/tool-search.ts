import { z } from 'zod';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import { defineTool } from '../../tools/define-tool.ts';
import type { StateView } from '../../tools/state.ts';
import type { Tool } from '../../tools/tool.ts';
import { searchTools } from './search.ts';

export const TOOL_SEARCH = 'ToolSearch';

const NOTHING_FOUND = 'No matching tools found in the deferred tool registry.';

/** Returns the schemas of deferred tools to the model; the tools found are visible from the next inference on. */
export const createToolSearch = ({
  searchable,
  promoteKey,
}: {
  searchable(state: StateView): readonly ToolDescriptor[];
  promoteKey: string;
}): Tool =>
  defineTool({
    id: TOOL_SEARCH,
    name: 'Tool Search',
    description:
      'Finds tools that are not loaded and loads them for the next step. "select:a,b" loads these tools; "+word more" finds tools that contain word; other words find tools by id, name and description.',
    category: 'tools',
    idempotent: true,
    input: z.object({
      query: z.string().meta({ description: 'select:<ids>, +<required word> <words>, or words' }),
      max_results: z.int().min(1).default(5),
    }),
    execute: ({ query, max_results }, { state }) => {
      const found = searchTools(searchable(state), query.trim(), max_results);
      const ids = found.map(({ id }) => id);
      return {
        data: { tools: found.length > 0 ? rendered(found) : NOTHING_FOUND, __promote: ids },
        ...(ids.length > 0 && { actions: [{ key: promoteKey, payload: ids }] }),
      };
    },
  });

/** Renders tools in the format in which models are trained on functions. */
const rendered = (tools: readonly ToolDescriptor[]): string =>
  ['<functions>', ...tools.map((tool) => `<function>${signatureOf(tool)}</function>`), '</functions>'].join(
    '\n',
  );

const signatureOf = ({ id, description, parameters }: ToolDescriptor): string =>
  `{"description": ${JSON.stringify(description)}, "name": ${JSON.stringify(id)}, "parameters": ${JSON.stringify(parameters)}}`;
