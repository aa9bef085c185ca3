import { z } from 'zod';
import { Backend, resolvePlace } from './backend.ts';
import { ContextPolicy } from './context-policy.ts';
import { isObject, RemoteEndpoint, withoutNulls } from './endpoint.ts';
import { JsonObject } from './json.ts';
import { listOf } from './list.ts';
import { modelSettingFields } from './model-settings.ts';
import { OutputOptions, OutputSchema } from './output.ts';
import { requiredText } from './problems.ts';
import { ProviderTools } from './provider-tool.ts';
import { StopCondition } from './stop-condition.ts';

/**
 * The spec of an agent (agent-loop.md 1).
 *
 * Guarantees: a parsed spec is in its normal form: defaults are filled in, aliases and old forms are replaced, and
 * duplicate statements are merged. Parsing it again changes nothing. An agent with an `endpoint` is remote, every other
 * one is local. Its stored and external form is in `agent-json.ts`.
 */

const texts = listOf(z.string());

const Fields = z.strictObject({
  id: requiredText('id'),
  description: z.string().optional(),
  backend: Backend.optional(),
  model_id: z.string().optional().meta({ description: 'id of a model or of a model pool' }),
  system_prompt: z.string().optional(),
  max_rounds: z
    .int()
    .nonnegative()
    .optional()
    .meta({ description: 'maximum inferences per run; 0 = unlimited; default 16' }),
  max_continuation_retries: z.int().nonnegative().default(2),
  stop_conditions: listOf(StopCondition).default([]),
  context_policy: ContextPolicy.optional(),
  ...modelSettingFields,
  plugin_ids: texts.default([]),
  active_hook_filter: texts
    .transform((ids) => [...new Set(ids)])
    .default([])
    .meta({ description: 'if not empty, only these plugins of the agent are active' }),
  allowed_tools: texts.nullable().optional(),
  allowed_tool_patterns: texts.nullable().optional(),
  excluded_tools: texts.optional(),
  excluded_tool_patterns: texts.optional(),
  output_schema: OutputSchema.optional(),
  output_options: OutputOptions.optional(),
  endpoint: RemoteEndpoint.optional(),
  delegates: texts.default([]).meta({ description: 'ids of agents that the agent may call as tools' }),
  provider_tools: ProviderTools.default([]).meta({
    description: 'tools that the model provider executes; no permission rule or hook applies to them',
  }),
  client_tools: texts
    .default([])
    .meta({ description: 'ids of tools of the agent that a client may replace for a run by declaring them' }),
  client_system_messages: z
    .boolean()
    .default(false)
    .meta({ description: 'clients may send messages of roles system and developer' }),
  sections: JsonObject.default({}),
  registry: z.string().optional(),
});
type Fields = z.infer<typeof Fields>;

/** In the two allow fields null has its own meaning: no tools. */
const TELLING_NULLS = ['allowed_tools', 'allowed_tool_patterns'] as const;

const currentForm = (given: z.input<typeof Fields>): unknown => {
  const spec = withoutNulls(given);
  if (!isObject(spec)) return spec;
  const nulls = TELLING_NULLS.filter((field) => given[field] === null).map((field) => [field, null]);
  const { active_plugins: filter, ...rest }: Record<string, unknown> = {
    ...spec,
    ...Object.fromEntries(nulls),
  };
  if (filter === undefined) return rest;
  return 'active_hook_filter' in rest ? spec : { ...rest, active_hook_filter: filter };
};

/** Everything is allowed only when both fields are absent. */
const allowFields = ({ allowed_tools: ids, allowed_tool_patterns: patterns }: Fields) => ({
  allowed_tools: ids ?? null,
  allowed_tool_patterns: patterns ?? (ids === undefined && patterns === undefined ? ['*'] : null),
});

const normalForm = (fields: Fields, context: z.RefinementCtx) => {
  const place = resolvePlace(fields.backend, fields.endpoint);
  if ('problem' in place) context.addIssue(place.problem);
  const { backend: _, endpoint: _endpoint, ...rest } = fields;
  const local = 'local' in place ? place.local : {};
  return {
    ...rest,
    ...allowFields(fields),
    model_id: fields.model_id ?? local.model_id ?? '',
    system_prompt: fields.system_prompt ?? local.system_prompt ?? '',
    max_rounds: fields.max_rounds ?? local.max_rounds ?? 16,
    ...('endpoint' in place && { endpoint: place.endpoint }),
  };
};

export const AgentSpec = z
  .preprocess(currentForm, Fields)
  .transform(normalForm)
  .meta({ id: 'AgentSpec', description: 'An agent.' });
export type AgentSpec = z.infer<typeof AgentSpec>;
/**
 * An agent as written in configuration (agent-loop.md 1.1): only `id` is required. An agent with an `endpoint` is
 * remote.
 *
 * @example
 * ```ts
 * const researcher: AgentInput = {
 *   id: 'researcher',
 *   model_id: 'default',
 *   system_prompt: 'Search before you answer.',
 *   allowed_tools: ['search'],
 *   max_rounds: 8,
 *   delegates: ['writer'],
 * };
 * ```
 */
export type AgentInput = z.input<typeof AgentSpec>;
