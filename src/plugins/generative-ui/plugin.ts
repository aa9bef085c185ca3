import { definePlugin } from '../define.ts';
import { writeInstructions } from './instructions.ts';
import { renderA2ui } from './render.ts';
import { generativeUiSection } from './section.ts';

/** The tool `render_a2ui` and the instructions for using it (agent-loop.md 14.5). */
export const generativeUiPlugin = definePlugin({
  id: 'generative-ui',
  section: generativeUiSection,
  create: (config) => {
    const content = writeInstructions(config);
    return {
      tools: [renderA2ui],
      hooks: {
        before_inference: () => ({
          actions: [
            {
              key: 'runtime.add_context_message',
              payload: { key: 'generative_ui.instructions', target: 'system', content },
            },
          ],
        }),
      },
    };
  },
});
