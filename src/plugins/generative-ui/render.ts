import { defineTool } from '../../tools/define-tool.ts';
import type { Tool } from '../../tools/tool.ts';
import { A2uiArguments } from './a2ui.ts';
import { countMessages } from './validate.ts';

const described = defineTool({
  id: 'render_a2ui',
  name: 'Render A2UI',
  description:
    'Shows a user interface. The arguments are exactly one A2UI message (surfaceUpdate, dataModelUpdate, beginRendering or deleteSurface), or several as messages.',
  category: 'presentation',
  idempotent: true,
  input: A2uiArguments,
  execute: () => ({ data: null }),
});

/**
 * The client renders: it reads the arguments of the call. The tool only validates them, with its own error messages,
 * and accepts a message without its wrapper key.
 */
export const renderA2ui: Tool = {
  ...described,
  execute: async (args) => ({ data: { rendered: true, count: countMessages(args) } }),
};
