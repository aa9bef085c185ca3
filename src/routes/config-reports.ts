import { z } from 'zod';
import { route } from '../http/route.ts';
import { ConfigDiagnostics } from '../schema/config-answers.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Json, JsonObject } from '../schema/json.ts';
import { KnownFields } from '../schema/model.ts';
import { AgentEntry } from './entry-schemas.ts';
import { EntryPage, EntryParams, entriesReply, requireConfig } from './managed.ts';
import type { RouteDeps } from './route-deps.ts';

/** Reports on the configuration: effective agents, gaps and capabilities (config.md 2.2, 6, 10). */

const RemovalPreview = z
  .object({
    provider_id: z.string(),
    model_ids: z.array(z.string()),
    pool_ids: z.array(z.string()),
    agent_ids: z.array(z.string()),
    block_if_referenced_allowed: z.boolean().meta({ description: 'a plain DELETE works' }),
    cascade_unused_models_allowed: z
      .boolean()
      .meta({ description: 'a forced DELETE leaves nothing dangling' }),
  })
  .meta({ id: 'ProviderRemovalPreview', description: 'Dependents of the provider.' });

const behavior = z.enum(['allow', 'ask', 'deny']);

const PermissionPreview = z
  .object({
    agent_id: z.string(),
    permission_plugin_enabled: z.boolean(),
    default_behavior: behavior.nullable().meta({ description: 'null when the plugin is not enabled' }),
    candidate_tools: z.array(z.string()),
    unconditionally_denied: z.array(z.string()),
    effective_tools: z.array(z.string()),
    args_conditional_rules: z.array(z.object({ tool: z.string(), behavior, pattern: z.string() })),
  })
  .meta({ id: 'PermissionPreview', description: 'Permissions of an agent.' });

const AgentList = z
  .object({ namespace: z.literal('agents'), items: z.array(AgentEntry), offset: z.int(), limit: z.int() })
  .meta({ id: 'AgentList', description: 'Agents.' });

const named = z.object({ id: z.string() });

const Capabilities = z
  .object({
    agents: z.array(z.string()).meta({ description: 'ids' }),
    tools: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        description: z.string(),
        source: z.object({ kind: z.enum(['builtin', 'mcp', 'plugin']), id: z.string().optional() }),
        request_bytes: z.int().meta({
          description: 'bytes that the tool adds to each request: its id, description and parameters',
        }),
      }),
    ),
    plugins: z.array(
      z.object({
        id: z.string(),
        config_schemas: z.array(
          z.object({
            key: z.string().meta({ description: 'of the section of an agent' }),
            schema: JsonObject,
            display_name: z.string().nullable(),
            description: z.string().nullable(),
            category: z.string().nullable(),
            editor: Json,
            default_value: Json,
            ui_schema: JsonObject,
          }),
        ),
      }),
    ),
    skills: z.array(z.looseObject({ id: z.string(), name: z.string(), description: z.string() })),
    models: z.array(
      z.looseObject({
        id: z.string(),
        provider_id: z.string(),
        upstream_model: z.string(),
        known: KnownFields,
      }),
    ),
    providers: z.array(named),
    backends: z.array(z.looseObject({ kind: z.string(), schema: JsonObject, default_config: JsonObject })),
    supported_adapters: z.array(z.string()),
    adapter_defaults: z
      .record(
        z.string(),
        z.object({
          name: z.string().meta({ description: 'name of the service or server program' }),
          base_url: z.string().nullable(),
          key_variable: z.string(),
          key_optional: z.boolean().meta({ description: 'the API also accepts requests without a key' }),
          docs_url: z.string().meta({ description: 'page about the API of the service' }),
          key_url: z.string().nullable().meta({ description: 'page on which users create keys' }),
          lists_models: z.boolean().meta({
            description: 'the provider test and the discovery of limits read the model list of the API',
          }),
          lists_models_on_request: z.boolean().meta({
            description: 'they read it if `adapter_options.model_discovery_schema` is `openai`',
          }),
          variant_of: z
            .string()
            .nullable()
            .meta({ description: 'adapter for another API of the same service, which is the usual choice' }),
          options: z
            .array(
              z.object({ name: z.string(), is_secret: z.boolean(), choices: z.array(z.string()).optional() }),
            )
            .meta({ description: 'keys of `adapter_options` that only this adapter reads' }),
        }),
      )
      .meta({
        description:
          'default base URL and environment variable of the key for each adapter; null: depends on the options of the provider',
      }),
    namespaces: z.array(z.object({ namespace: z.string(), schema: JsonObject })),
    admin_assistant: JsonObject,
  })
  .meta({ id: 'Capabilities', description: 'Available parts of agents.' });

const admin = { tag: 'config', needs: 'observe' } as const;
const missing = { 404: ErrorBody };

export const configReportRoutes = (deps: Pick<RouteDeps, 'config'>) => [
  route.get('/v1/config/diagnostics', {
    ...admin,
    id: 'getConfigDiagnostics',
    summary: 'Dangling references and unused sections in the stored configuration',
    description: 'Each finding names its entry, the reference and the severity.',
    responses: { 200: ConfigDiagnostics },
    handle: () => ({ diagnostics: requireConfig(deps).diagnostics() }),
  }),
  route.get('/v1/config/providers/:id/removal-preview', {
    ...admin,
    needs: 'configure:providers',
    id: 'previewProviderRemoval',
    summary: 'Dependents of a provider',
    description: 'The models of the provider, and the pools and agents that use them.',
    params: EntryParams,
    responses: { 200: RemovalPreview, ...missing },
    handle: ({ params }) => requireConfig(deps).removalPreview(params.id),
  }),
  route.get('/v1/capabilities', {
    ...admin,
    id: 'getCapabilities',
    summary: 'Available parts of agents',
    description: 'Models, providers, tools, plugins with the schemas of their sections, skills.',
    responses: { 200: Capabilities },
    handle: () => requireConfig(deps).capabilities(),
  }),
  route.get('/v1/agents', {
    ...admin,
    tag: 'agents',
    id: 'listAgents',
    summary: 'Configured agents, by id',
    description: 'The entries of the namespace `agents`.',
    query: EntryPage,
    responses: { 200: AgentList },
    handle: ({ query }) => entriesReply(requireConfig(deps).list('agents', query)),
  }),
  route.get('/v1/agents/:id', {
    ...admin,
    tag: 'agents',
    id: 'getAgent',
    summary: 'One agent, with its overrides',
    description: 'The same as `/v1/config/agents/{id}`.',
    params: EntryParams,
    responses: { 200: AgentEntry, ...missing },
    handle: ({ params }) => requireConfig(deps).get('agents', params.id),
  }),
  route.get('/v1/agents/:id/permission-preview', {
    ...admin,
    needs: 'configure:agents',
    tag: 'agents',
    id: 'previewAgentPermissions',
    summary: 'Tools of an agent by permission',
    description:
      'The result of the permission rules for each tool, as far as it does not depend on arguments.',
    params: EntryParams,
    responses: { 200: PermissionPreview, ...missing },
    handle: ({ params }) => requireConfig(deps).permissionPreview(params.id),
  }),
];
