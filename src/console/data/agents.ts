import { list, object, optional, text } from './guard.ts';
import { useMay } from './identity.ts';
import { type Resource, useResource } from './queries.ts';
import { capabilities } from './resources.ts';
import { useIsOffered } from './test-agents.ts';

const Model = object({ id: text, description: optional(text) });
type Model = ReturnType<typeof Model>;

const Models = object({ data: list(Model) });

/** The agents that are models for clients of OpenAI: those that the principal may invoke. */
export const models: Resource<Model[]> = {
  path: '/v1/models',
  guard: (value, at) => Models(value, at).data,
  off: { statuses: [404], setting: 'SERVICE_OPENAI_ENABLED' },
};

/** The ids that selections offer. Users who may not read the configuration choose from the models. */
export const useAgentIds = (): string[] => {
  const isReader = useMay()(['observe']);
  const isOffered = useIsOffered();
  const known = useResource(capabilities, isReader).data?.agents;
  const own = useResource(models, !isReader).data?.map(({ id }) => id);
  const all = known ?? own ?? [];
  const offered = all.filter(isOffered);
  // A user may be allowed to invoke nothing but test agents.
  return offered.length > 0 ? offered : all;
};

export const firstAgent = (ids: readonly string[]): string | undefined =>
  ids.includes('default') ? 'default' : ids[0];
