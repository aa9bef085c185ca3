import { z } from 'zod';
import { route } from '../http/route.ts';
import { ConfigDiagnostics } from '../schema/config-answers.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Json, JsonObject } from '../schema/json.ts';
import { KnownFields } from '../schema/model.ts';
import { AgentEntry } from './entry-schemas.ts';
import { configOf, EntryPage, EntryParams, entriesReply } from './managed.ts';
import type { Rooms } from './rooms.ts';

/** What the configuration amounts to: its agents, its gaps, what can be used (config.md 2.2, 6, 10). */

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
  .meta({ id: 'ProviderRemovalPreview', description: 'Who depends on the provider.' });

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
  .meta({ id: 'PermissionPreview', description: 'What an agent may do.' });

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
          base_url: z.string().nullable(),
          key_variable: z.string(),
          key_optional: z.boolean().meta({ description: 'the service also answers without a key' }),
          docs_url: z.string().meta({ description: 'page about the API of the service' }),
          lists_models: z.boolean().meta({
            description:
              'the provider test and the discovery of limits read the list of models of the service',
          }),
          options: z
            .array(
              z.object({ name: z.string(), is_secret: z.boolean(), choices: z.array(z.string()).optional() }),
            )
            .meta({ description: 'keys of `adapter_options` that only this adapter reads' }),
        }),
      )
      .meta({
        description:
          'where each adapter asks and which environment variable has its key, unless a provider says otherwise; null: it depends on its options',
      }),
    namespaces: z.array(z.object({ namespace: z.string(), schema: JsonObject })),
    admin_assistant: JsonObject,
  })
  .meta({ id: 'Capabilities', description: 'Everything that agents can be made of.' });

const admin = { tag: 'config', scope: 'admin' } as const;
const missing = { 404: ErrorBody };

export const configReportRoutes = (rooms: Pick<Rooms, 'config'>) => [
  route.get('/v1/config/diagnostics', {
    ...admin,
    id: 'getConfigDiagnostics',
    summary: 'Names in the stored configuration that lead nowhere, and sections that nothing reads',
    description: 'Each tells which entry it is of, what that depends on, and how bad it is.',
    responses: { 200: ConfigDiagnostics },
    handle: () => ({ diagnostics: configOf(rooms).diagnostics() }),
  }),
  route.get('/v1/config/providers/:id/removal-preview', {
    ...admin,
    id: 'previewProviderRemoval',
    summary: 'Who would miss a provider',
    description: 'The models of the provider, and the pools and agents that stand on these.',
    params: EntryParams,
    responses: { 200: RemovalPreview, ...missing },
    handle: ({ params }) => configOf(rooms).removalPreview(params.id),
  }),
  route.get('/v1/capabilities', {
    ...admin,
    id: 'getCapabilities',
    summary: 'Everything that agents can be made of',
    description: 'Models, providers, tools, plugins with the schemas of their sections, skills.',
    responses: { 200: Capabilities },
    handle: () => configOf(rooms).capabilities(),
  }),
  route.get('/v1/agents', {
    ...admin,
    tag: 'agents',
    id: 'listAgents',
    summary: 'Agents of the configuration, by id',
    description: 'The entries of the namespace `agents`.',
    query: EntryPage,
    responses: { 200: AgentList },
    handle: ({ query }) => entriesReply(configOf(rooms).list('agents', query)),
  }),
  route.get('/v1/agents/:id', {
    ...admin,
    tag: 'agents',
    id: 'getAgent',
    summary: 'One agent, with its overrides',
    description: 'The same as `/v1/config/agents/{id}`.',
    params: EntryParams,
    responses: { 200: AgentEntry, ...missing },
    handle: ({ params }) => configOf(rooms).get('agents', params.id),
  }),
  route.get('/v1/agents/:id/permission-preview', {
    ...admin,
    tag: 'agents',
    id: 'previewAgentPermissions',
    summary: 'Which tools an agent has before any call',
    description:
      'What the rules of its permission section say of each tool, as far as that can be said without arguments.',
    params: EntryParams,
    responses: { 200: PermissionPreview, ...missing },
    handle: ({ params }) => configOf(rooms).permissionPreview(params.id),
  }),
];
