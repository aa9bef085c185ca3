import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import { AgentVersion, AgentVersionDiff } from '../schema/agent-version.ts';
import { ErrorBody } from '../schema/error-body.ts';
import type { JsonObject } from '../schema/json.ts';
import { count, Limit } from '../schema/paging.ts';
import { identifyCaller } from './caller.ts';
import { AgentEntry, AgentEntryInput } from './entry-schemas.ts';
import { EntryParams, judgedBody, requireConfig } from './managed.ts';
import { EntryId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** Drafts and published versions of agents (config.md 8.1), which runs name as `<id>@draft` and `<id>@<version>`. */

const admin = { tag: 'config', needs: 'observe', params: EntryParams } as const;
const change = { ...admin, needs: 'configure:agents', headers: ['X-Service-Actor'] } as const;
const missing = { 404: ErrorBody };

const VersionNumber = count.transform(Number).meta({ description: 'number of a published version' });

export const versionRoutes = (deps: Pick<RouteDeps, 'config'>) => [...draftRoutes(deps), ...readRoutes(deps)];

const draftRoutes = (deps: Pick<RouteDeps, 'config'>) => [
  route.get('/v1/config/agents/:id/draft', {
    ...admin,
    id: 'getAgentDraft',
    summary: 'The draft of an agent',
    description: 'Secrets are replaced by a marker.',
    responses: { 200: AgentEntry, ...missing },
    handle: ({ params: { id } }) => requireConfig(deps).drafts.get(id),
  }),
  route.put('/v1/config/agents/:id/draft', {
    ...change,
    id: 'putAgentDraft',
    summary: 'Save the draft of an agent',
    description:
      'Checked like a save of the agent, and not published: only runs of `<id>@draft` use it, which need `configure:agents`.',
    ...judgedBody(AgentEntryInput),
    responses: { 200: AgentEntry, ...missing },
    handle: ({ params: { id }, body, ...request }) =>
      requireConfig(deps).drafts.put(id, body, identifyCaller(request)),
  }),
  route.delete('/v1/config/agents/:id/draft', {
    ...change,
    id: 'deleteAgentDraft',
    summary: 'Delete the draft of an agent',
    description: 'The published agent is unchanged.',
    responses: { 204: 'empty', ...missing },
    async handle({ params: { id }, ...request }) {
      await requireConfig(deps).drafts.remove(id, identifyCaller(request));
      return reply(204);
    },
  }),
  route.post('/v1/config/agents/:id/draft/publish', {
    ...change,
    id: 'publishAgentDraft',
    summary: 'Publish the draft of an agent',
    description: 'Saves the agent with the content of its draft, and removes the draft.',
    responses: { 200: AgentEntry, ...missing, 409: ErrorBody },
    idempotent: true,
    again: ({ params: { id } }) => requireConfig(deps).get('agents', id),
    handle({ params: { id }, keyed, ...request }) {
      const accept = keyed?.answers(
        (agent: JsonObject) => agent,
        () => ({}),
      );
      return requireConfig(deps).drafts.publish(id, identifyCaller(request), accept);
    },
  }),
];

const readRoutes = (deps: Pick<RouteDeps, 'config'>) => [
  route.get('/v1/config/agents/:id/versions', {
    ...admin,
    id: 'listAgentVersions',
    summary: 'Published versions of an agent, newest first',
    description:
      'A version is created by each publication that changes the agent. Numbers that only previews and drafts have used are left out.',
    query: z.object({
      limit: Limit,
      before: VersionNumber.optional().meta({ description: 'only versions with a smaller number' }),
    }),
    responses: { 200: z.array(AgentVersion), ...missing },
    handle: ({ params: { id }, query }) => requireConfig(deps).versions.list(id, query),
  }),
  route.get('/v1/config/agents/:id/versions/diff', {
    ...admin,
    id: 'diffAgentVersions',
    summary: 'The difference of two versions of an agent, as JSON Patch',
    description: 'Secrets are left out, so a change of a secret alone is no difference.',
    query: z.object({ from: VersionNumber, to: VersionNumber }),
    responses: { 200: AgentVersionDiff, ...missing },
    handle: ({ params: { id }, query }) => requireConfig(deps).versions.diff(id, query),
  }),
  route.get('/v1/config/agents/:id/versions/:version', {
    ...admin,
    id: 'getAgentVersion',
    summary: 'One published version of an agent',
    description: 'The agent with the overrides of that time. Secrets are replaced by a marker.',
    params: z.object({ id: EntryId, version: VersionNumber }),
    responses: { 200: AgentEntry, ...missing },
    handle: ({ params: { id, version } }) => requireConfig(deps).versions.get(id, version),
  }),
];
