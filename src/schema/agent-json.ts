import { AgentSpec } from './agent.ts';
import { LOCAL } from './backend.ts';
import { endpointJson, isObject } from './endpoint.ts';
import { pickModelSettings } from './model-settings.ts';
import { parseEntry } from './problems.ts';

/** The external form of agents: as written by clients, and as stored and shown (agent-loop.md 1.1). */

/** `localKind`: the external name of the local backend (setting `local_backend_kind`). */
export type AgentWriting = { surface?: string; localKind?: string };

/** @throws Invalid `invalid agent spec: …` */
export const parseAgent = (
  given: unknown,
  { surface = 'agent spec', localKind = LOCAL }: AgentWriting = {},
): AgentSpec => parseEntry(surface, AgentSpec, withLocalKind(given, localKind));

const withLocalKind = (given: unknown, localKind: string): unknown =>
  isObject(given) && isObject(given.backend) && given.backend.kind === localKind
    ? { ...given, backend: { ...given.backend, kind: LOCAL } }
    : given;

/** Unset and empty fields are omitted, except those that are always present. */
export const agentJson = (spec: AgentSpec, localKind: string = LOCAL) => ({
  id: spec.id,
  ...given('description', spec.description),
  backend: backendJson(spec, localKind),
  model_id: spec.model_id,
  system_prompt: spec.system_prompt,
  max_rounds: spec.max_rounds,
  max_continuation_retries: spec.max_continuation_retries,
  ...filled('stop_conditions', spec.stop_conditions),
  ...given('context_policy', spec.context_policy),
  ...pickModelSettings(spec),
  plugin_ids: spec.plugin_ids,
  ...filled('active_hook_filter', spec.active_hook_filter),
  allowed_tools: spec.allowed_tools,
  allowed_tool_patterns: spec.allowed_tool_patterns,
  ...given('excluded_tools', spec.excluded_tools),
  ...given('excluded_tool_patterns', spec.excluded_tool_patterns),
  ...given('output_schema', spec.output_schema),
  ...given('output_options', spec.output_options),
  ...(spec.endpoint && { endpoint: endpointJson(spec.endpoint) }),
  ...filled('delegates', spec.delegates),
  ...filled('provider_tools', spec.provider_tools),
  ...filled('client_tools', spec.client_tools),
  ...(spec.client_system_messages && { client_system_messages: true }),
  ...(Object.keys(spec.sections).length > 0 && { sections: spec.sections }),
  ...given('registry', spec.registry),
});

const backendJson = ({ endpoint, model_id, system_prompt, max_rounds }: AgentSpec, localKind: string) => {
  if (!endpoint) return { kind: localKind, version: 1, config: { model_id, system_prompt, max_rounds } };
  const { backend: kind, ...config } = endpointJson(endpoint);
  return { kind, version: 1, config };
};

const given = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  // The computed key is exactly `name`.
  (value === undefined ? {} : { [name]: value }) as { [N in Name]?: Value };

const filled = <Name extends string, Value>(name: Name, value: readonly Value[]) =>
  given(name, value.length === 0 ? undefined : value);
