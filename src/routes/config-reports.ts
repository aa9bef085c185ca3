import { z } from 'zod';
import { route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { configOf, Entry, EntryList, EntryPage, EntryParams } from './managed.ts';
import type { Rooms } from './rooms.ts';

/** What the configuration amounts to: its agents, its gaps, what can be used (config.md 2.2, 6, 10). */

const Resource = z.object({ namespace: z.string(), id: z.string() });

const Diagnostics = z
  .object({
    diagnostics: z.array(
      z.object({
        code: z.string(),
        severity: z.enum(['error', 'warning']),
        resource: Resource,
        depends_on: Resource.optional(),
        message: z.string(),
      }),
    ),
  })
  .meta({ id: 'ConfigDiagnostics' });

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
  .meta({ id: 'ProviderRemovalPreview' });

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
  .meta({ id: 'PermissionPreview' });

const admin = { tag: 'config', scope: 'admin' } as const;
const missing = { 404: ErrorBody };

export const configReportRoutes = (rooms: Pick<Rooms, 'config'>) => [
  route.get('/v1/config/diagnostics', {
    ...admin,
    id: 'getConfigDiagnostics',
    summary: 'Names in the stored configuration that lead nowhere, and sections that nothing reads',
    responses: { 200: Diagnostics },
    handle: () => ({ diagnostics: configOf(rooms).diagnostics() }),
  }),
  route.get('/v1/config/providers/:id/removal-preview', {
    ...admin,
    id: 'previewProviderRemoval',
    summary: 'Who would miss a provider',
    params: EntryParams,
    responses: { 200: RemovalPreview, ...missing },
    handle: ({ params }) => configOf(rooms).removalPreview(params.id),
  }),
  route.get('/v1/capabilities', {
    ...admin,
    id: 'getCapabilities',
    summary: 'Everything that agents can be made of',
    description: 'Models, providers, tools, plugins with the schemas of their sections, skills.',
    responses: { 200: Entry },
    handle: () => configOf(rooms).capabilities(),
  }),
  route.get('/v1/agents', {
    ...admin,
    tag: 'agents',
    id: 'listAgents',
    summary: 'Agents of the configuration, by id',
    query: EntryPage,
    responses: { 200: EntryList },
    handle: ({ query }) => configOf(rooms).list('agents', query),
  }),
  route.get('/v1/agents/:id', {
    ...admin,
    tag: 'agents',
    id: 'getAgent',
    summary: 'One agent, with its overrides',
    params: EntryParams,
    responses: { 200: Entry, ...missing },
    handle: ({ params }) => configOf(rooms).get('agents', params.id),
  }),
  route.get('/v1/agents/:id/permission-preview', {
    ...admin,
    tag: 'agents',
    id: 'previewAgentPermissions',
    summary: 'Which tools an agent has before any call',
    params: EntryParams,
    responses: { 200: PermissionPreview, ...missing },
    handle: ({ params }) => configOf(rooms).permissionPreview(params.id),
  }),
];
