import { z } from 'zod';
import type { Caller, ConfigService } from '../configuration/control-plane/api.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import { Outcome } from '../schema/outcome.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import { DraftInput, draftAgent } from './draft.ts';

/**
 * The tools of the assistant (config.md 11.4), bound to one request: their changes are attributed to its caller.
 *
 * Guarantees: they are in no catalog, so no other agent can use them. Nothing is stored before a person has approved
 * the call. Every executed call is logged, without its arguments. A rejection is a result that the model can read, and
 * its text contains no secret of a provider.
 */

export type BoundToolDeps = {
  config: Pick<ConfigService, 'capabilities' | 'validate' | 'create'>;
  caller: Caller;
  /** The model of the assistant. */
  model_id: string;
  agent_id: string;
  mask(text: string): string;
  log: Pick<ServiceLog, 'info' | 'error'>;
};

export const BOUND_TOOLS = {
  admin_get_platform_capabilities: {
    label: 'Read platform capabilities',
    description:
      'Everything that this deployment offers: agents, models, tools, plugins, skills, and the schemas of what can be configured.',
  },
  admin_create_agent_draft: {
    label: 'Draft an agent',
    description:
      'Drafts an agent from a description of its purpose, and validates the draft. Nothing is stored.',
  },
  admin_validate_agent: {
    label: 'Validate an agent',
    description: 'Validates a specification of an agent like a write does. Nothing is stored.',
  },
  admin_create_agent: {
    label: 'Create and publish an agent',
    description:
      'Stores and publishes an agent, from a description of its purpose or from a whole specification in `agent`. The user must approve the call.',
  },
} as const;

type BoundTool = keyof typeof BOUND_TOOLS;

export const needsConfirmation = (id: string): boolean => id === 'admin_create_agent';

const AgentInput = z.looseObject({}).describe('The whole specification of an agent');

const ValidateInput = z.strictObject({
  agent: AgentInput,
  id: z.string().optional().describe('Id of the agent that it would replace'),
});

const CreateInput = DraftInput.partial({ intent: true })
  .extend({ agent: AgentInput.optional() })
  .superRefine(({ agent, ...request }, context) => {
    const given = Object.values(request).some((value) => value !== undefined);
    if (agent && given) context.addIssue("'agent' is a whole specification, so no other argument is allowed");
    if (!agent && request.intent === undefined) context.addIssue("either 'intent' or 'agent' is required");
  });

const NEXT_STEP =
  'Show the draft to the user. If the user wants it, call admin_create_agent with the draft as `agent`. The user has to approve the call.';

export const boundTools = (deps: BoundToolDeps): Tool[] => {
  const { config, caller, model_id } = deps;
  const tool = <Input extends z.ZodType>(
    id: BoundTool,
    input: Input,
    call: (args: z.output<Input>) => Promise<JsonObject>,
  ): Tool =>
    defineTool({
      id,
      description: BOUND_TOOLS[id].description,
      input,
      needsApproval: needsConfirmation(id),
      // Exclusive, so that a person never has to distinguish two concurrent writes when approving them.
      exclusive: needsConfirmation(id),
      async execute(args, context) {
        deps.log.info('assistant.tool_called', about(deps, id, context));
        return { data: await call(args) };
      },
    });
  /** Internal errors are also returned to the model, but logged for the operator first. */
  const attempt = async (make: () => Promise<JsonObject>, refused: JsonObject): Promise<JsonObject> => {
    try {
      return { ok: true, ...(await make()) };
    } catch (error) {
      if (!(error instanceof Outcome)) deps.log.error('assistant.tool_failed', { err: error });
      const reason = error instanceof Error ? error.message : String(error);
      return { ok: false, ...refused, errors: [deps.mask(reason)] };
    }
  };

  return [
    tool('admin_get_platform_capabilities', z.strictObject({}), async () => config.capabilities()),
    tool('admin_create_agent_draft', DraftInput, (args) => {
      const draft = draftAgent(args, model_id);
      return attempt(
        async () => {
          await config.validate('agents', draft);
          return { draft, published: false, next_step: NEXT_STEP };
        },
        { published: false, draft },
      );
    }),
    tool('admin_validate_agent', ValidateInput, ({ agent, id }) =>
      attempt(async () => ({ normalized: await config.validate('agents', agent, id), warnings: [] }), {}),
    ),
    tool('admin_create_agent', CreateInput, ({ agent, intent = '', ...request }) =>
      attempt(
        async () => ({
          agent: await config.create('agents', agent ?? draftAgent({ intent, ...request }, model_id), caller),
          published: true,
        }),
        { published: false },
      ),
    ),
  ];
};

const about = (
  { agent_id, caller }: BoundToolDeps,
  tool: BoundTool,
  { call_id, thread_id, run_id }: ToolContext,
): object => ({
  tool,
  call_id,
  thread_id,
  run_id,
  agent_id,
  actor: caller.actor,
  request_id: caller.request_id,
});
