import type { AgentSpec } from '../schema/agent.ts';
import type { ModelSpec, PoolSpec, ProviderSpec } from '../schema/model.ts';

/** The records of a registry. If two have the same id, the later one counts. */
export type Records = {
  providers: ProviderSpec[];
  models: ModelSpec[];
  model_pools: PoolSpec[];
  agents: AgentSpec[];
};

export const NO_RECORDS: Records = { providers: [], models: [], model_pools: [], agents: [] };

export const mergeRecords = (...sources: readonly Records[]): Records => ({
  providers: latest(sources.flatMap((source) => source.providers)),
  models: latest(sources.flatMap((source) => source.models)),
  model_pools: latest(sources.flatMap((source) => source.model_pools)),
  agents: latest(sources.flatMap((source) => source.agents)),
});

const latest = <Entry extends { id: string }>(entries: readonly Entry[]): Entry[] =>
  Array.from(new Map(entries.map((entry) => [entry.id, entry])).values());
