import { z } from 'zod';
import { defineTool } from '../../tools/define-tool.ts';
import type { SubAgents } from '../../tools/sub-agent.ts';
import { type Json, type Tool, ToolError } from '../../tools/tool.ts';
import { compileSpecStream } from './spec-stream.ts';

/**
 * Tools of the demo profile with which a sub-agent writes a UI (agent-loop.md 14.5). Its text is streamed as output of
 * the call; the result contains the whole.
 */

type Deps = { subAgents: Pick<SubAgents, 'start' | 'end'> };

export const createStreamingUiTools = ({ subAgents }: Deps): Tool[] => [
  uiTool(subAgents, {
    id: 'render_json_ui',
    name: 'Render JSON UI',
    description: 'Writes a user interface as a JSON document and shows it.',
    agent: 'json-render-ui',
    contentOf: (text) => {
      try {
        return compileSpecStream(text);
      } catch (cause) {
        throw new ToolError(
          'execution_failed',
          `json-render sub-agent returned invalid SpecStream output: ${reasonOf(cause)}`,
          { cause },
        );
      }
    },
  }),
  uiTool(subAgents, {
    id: 'render_openui_ui',
    name: 'Render OpenUI',
    description: 'Writes a user interface in OpenUI Lang and shows it.',
    agent: 'openui-ui',
    contentOf: (text) => text,
  }),
];

type UiTool = Readonly<Record<'id' | 'name' | 'description' | 'agent', string>> & {
  contentOf(text: string): Json;
};

/** A missing prompt gets the same error as a blank one. */
const Prompt = z.preprocess(
  (args) => (typeof args === 'object' ? { prompt: '', ...args } : args),
  z.strictObject({
    prompt: z
      .string()
      .refine((prompt) => prompt.trim() !== '', 'missing required non-empty field "prompt"')
      .meta({ description: 'content to show, with all required data' }),
  }),
);

const uiTool = (subAgents: Deps['subAgents'], { id, name, description, agent, contentOf }: UiTool): Tool =>
  defineTool({
    id,
    name,
    description,
    category: 'presentation',
    needsRun: `it starts a run of agent '${agent}'`,
    input: Prompt,
    execute: async ({ prompt }, context) => {
      const { scope, run_id, thread_id, call_id, signal, stream } = context;
      const outcome = await subAgents.start({
        ...{ agent, prompt, scope, run_id, thread_id, call_id, signal },
        onEvent: (event) => {
          if (event.event_type === 'text_delta') stream(event.delta);
        },
      });
      if (signal.aborted) throw new ToolError('cancelled', `${id} was stopped`);
      if (outcome.status === 'completed')
        return { data: { content: contentOf(outcome.response), steps: outcome.steps } };
      // A suspended sub-agent of this tool would never receive its decision.
      if (outcome.status === 'waiting' && outcome.child_run_id) subAgents.end(scope, outcome.child_run_id);
      const why = outcome.status === 'failed' ? outcome.reason : outcome.status;
      throw new ToolError('execution_failed', `sub-agent did not complete: ${why}`);
    },
  });

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
