import { z } from 'zod';
import type { Caller, ConfigService } from '../registry/config/api.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import { Outcome } from '../schema/outcome.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import { DraftInput, draftAgent } from './draft.ts';

/**
 * The tools of the assistant (config.md 11.4), bound to one request: what they change, its caller has changed.
 *
 * Guarantees: they are in no catalogue, so no other agent can be given one. Nothing is stored before a person has
 * approved the call. Every call that is executed is a line of the log, without its arguments. A refusal is a result
 * that the model can read, and no secret of a provider is in its text.
 */

export type BoundToolDeps = {
  config: Pick<ConfigService, 'capabilities' | 'validate' | 'create'>;
  caller: Caller;
  /** The model that the assistant thinks with. */
  model_id: string;
  agent_id: string;
  mask(text: string): string;
  log: { info(data: object, text: string): void; error(data: object, text: string): void };
};

export const BOUND_TOOLS = {
  admin_get_platform_capabilities: {
    label: 'Read platform capabilities',
    description:
      'Everything that this deployment offers: agents, models, tools, plugins, skills, and the schemas of what can be configured.',
  },
  admin_create_agent_draft: {
    label: 'Draft an agent',
    description: 'Makes a draft of an agent from what it is for, and checks it. Nothing is stored.',
  },
  admin_validate_agent: {
    label: 'Validate an agent',
    description: 'Checks a specification of an agent as a save would. Nothing is stored.',
  },
  admin_create_agent: {
    label: 'Create and publish an agent',
    description:
      'Stores an agent and publishes it, from what it is for or from a whole specification in `agent`. The user must approve the call.',
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
  .superRefine(({ agent, ...wish }, context) => {
    const given = Object.values(wish).some((value) => value !== undefined);
    if (agent && given) context.addIssue("'agent' is a whole specification: no other argument goes with it");
    if (!agent && wish.intent === undefined) context.addIssue("either 'intent' or 'agent' is needed");
  });

const NEXT_STEP =
  'Show the draft to the user. When they want it, call admin_create_agent with it as `agent`; they are asked to approve the call.';

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
      // Two that write would have to be told apart by the one who approves them.
      exclusive: needsConfirmation(id),
      async execute(args, context) {
        deps.log.info(about(deps, id, context), 'the admin assistant calls a tool');
        return { data: await call(args) };
      },
    });
  /** Also what went wrong inside of the service is told to the model, but that is for the operator first. */
  const attempt = async (make: () => Promise<JsonObject>, refused: JsonObject): Promise<JsonObject> => {
    try {
      return { ok: true, ...(await make()) };
    } catch (error) {
      if (!(error instanceof Outcome)) deps.log.error({ err: error }, 'a tool of the admin assistant failed');
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
    tool('admin_create_agent', CreateInput, ({ agent, intent = '', ...wish }) =>
      attempt(
        async () => ({
          agent: await config.create('agents', agent ?? draftAgent({ intent, ...wish }, model_id), caller),
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
