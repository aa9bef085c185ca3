import { z } from 'zod';
import { route } from '../http/route.ts';
import { permissionOfCall } from '../plugins/permission/preview.ts';
import { ErrorBody } from '../schema/error-body.ts';
import type { Json, JsonObject } from '../schema/json.ts';
import { Conflict, Invalid, NotFound, Unavailable } from '../schema/outcome.ts';
import { maskKnown } from '../schema/redaction/foreign.ts';
import { redact } from '../schema/redaction/redact.ts';
import { type CallPermission, ToolDefinition, ToolTrial, ToolTrialInput } from '../schema/tool-trial.ts';
import { type Tool, ToolError } from '../tools/tool.ts';
import { trialArguments, tryTool } from '../tools/trial.ts';
import { identifyCaller } from './caller.ts';
import { EntryParams, requireConfig } from './managed.ts';
import type { RouteDeps } from './route-deps.ts';

/** Definitions of tools of every source, and calls of a tool outside of a run (config.md 6.5). */

type Deps = Pick<RouteDeps, 'config' | 'findTool' | 'resolve' | 'ids' | 'clock' | 'log'>;

const admin = { tag: 'config', needs: 'observe', params: EntryParams } as const;

/** Trials in progress at one time. */
const MOST_TRIALS = 16;

export const toolRoutes = (deps: Deps) => {
  let trials = 0;
  return [
    route.get('/v1/tools/:id', {
      ...admin,
      id: 'getTool',
      summary: 'The definition of a tool',
      description: 'A tool of the service, of a plugin or of an MCP server, as models receive it.',
      query: z.object({
        agent_id: z.string().optional().meta({ description: 'the agent whose tool is returned' }),
      }),
      responses: { 200: ToolDefinition, 404: ErrorBody },
      handle: ({ params, query }) => definitionOf(toolOf(deps, params.id, query.agent_id)),
    }),
    route.post('/v1/tools/:id/try', {
      ...admin,
      needs: 'configure:tools',
      id: 'tryTool',
      summary: 'Call a tool without a run',
      description:
        'Checks the arguments, executes the tool and returns its outcome, with the effect that the permission rules of the agent would have. No run is stored, and state changes are not applied; effects of the tool itself are real. An audit entry is written before the call. The call ends when the client disconnects.',
      headers: ['X-Service-Actor'],
      body: ToolTrialInput,
      responses: { 200: ToolTrial, 404: ErrorBody, 409: ErrorBody, 503: ErrorBody },
      async handle({ params: { id }, body, ...request }) {
        const { audit } = requireConfig(deps);
        const { agent_id, timeout_ms } = body;
        const caller = identifyCaller(request);
        const gone = new AbortController();
        request.onGone(() => gone.abort());
        const tool = toolOf(deps, id, agent_id);
        if (tool.needsRun !== undefined) {
          throw new Conflict(`tool '${id}' cannot be tried without a run: ${tool.needsRun}`);
        }
        const args = await argumentsFor(deps, tool, body.arguments ?? {});
        if (trials >= MOST_TRIALS) throw new Unavailable(`${MOST_TRIALS} tools are being tried already`);
        trials += 1;
        try {
          const after = { ...auditedArguments(args), ...(agent_id !== undefined && { agent_id }) };
          await audit.record({ action: 'try', resource: `tools/${id}`, after }, caller);
          const { gate, ...trial } = await tryTool(
            { tool, args, timeoutMs: timeout_ms, signal: gone.signal },
            {
              scope: request.scope,
              agent_id: agent_id ?? NO_AGENT,
              call_id: `try_${deps.ids.uuid()}`,
              clock: deps.clock,
            },
          );
          return { ...trial, permission: strictest(gate, permissionFor(deps, agent_id, id, args)) };
        } finally {
          trials -= 1;
        }
      },
    }),
  ];
};

/** The agent that a tool sees if none was named. */
const NO_AGENT = 'none';

/** @throws NotFound, Invalid */
const toolOf = (deps: Deps, id: string, agent_id: string | undefined): Tool => {
  requireConfig(deps);
  const tool = agent_id === undefined ? deps.findTool(id) : deps.resolve(agent_id).tools.get(id);
  if (tool) return tool;
  const where = agent_id === undefined ? '' : ` (agent ${agent_id})`;
  throw new NotFound(`tool not found: ${id}${where}`);
};

const definitionOf = ({ descriptor, needsRun }: Tool): ToolDefinition => {
  const { id, name, description, category, parameters } = descriptor;
  return { id, name, description, category, parameters_schema: parameters, needs_run: needsRun ?? null };
};

/** @throws Invalid with the problems of the arguments */
const argumentsFor = async (deps: Deps, tool: Tool, given: Json): Promise<Json> => {
  try {
    return await trialArguments(tool, given, (problem) =>
      deps.log.warn('tool.schema_unusable', { tool: tool.descriptor.id, problem }),
    );
  } catch (error) {
    if (error instanceof ToolError) throw new Invalid(`invalid arguments: ${error.message}`);
    throw error;
  }
};

/** Without secrets, by their names and values. Masking returns JSON of the same shape. */
const masked = (args: Json): Json => maskKnown(redact({ args }).args) as Json;

/** Characters of JSON. */
const MOST_AUDITED = 4096;

const auditedArguments = (args: Json): JsonObject => {
  const characters = JSON.stringify(args).length;
  return characters <= MOST_AUDITED ? { arguments: masked(args) } : { arguments_characters: characters };
};

const permissionFor = (
  { resolve }: Pick<Deps, 'resolve'>,
  agent_id: string | undefined,
  name: string,
  args: Json,
): CallPermission | null => {
  const found =
    agent_id === undefined ? undefined : permissionOfCall(resolve(agent_id).spec, { name, arguments: args });
  return found ? { ...found, decided_by: found.rule === null ? 'default' : 'rule' } : null;
};

const STRICTNESS = ['deny', 'ask', 'allow'] as const;

/** Gates have equal weight in a run, where the strictest one decides. */
const strictest = (...permissions: readonly (CallPermission | null)[]): CallPermission | null => {
  const given = permissions.filter((permission) => permission !== null);
  const first = STRICTNESS.find((behavior) => given.some((permission) => permission.behavior === behavior));
  return given.find(({ behavior }) => behavior === first) ?? null;
};
