import type { AgentSpec } from '../schema/agent.ts';
import type { ModelSpec, ProviderSpec } from '../schema/model.ts';

/** The records that a registry is made of. Of two with one id, the later one counts. */
export type Records = { providers: ProviderSpec[]; models: ModelSpec[]; agents: AgentSpec[] };

export const mergeRecords = (...sources: readonly Records[]): Records => ({
  providers: latest(sources.flatMap((source) => source.providers)),
  models: latest(sources.flatMap((source) => source.models)),
  agents: latest(sources.flatMap((source) => source.agents)),
});

const latest = <Entry extends { id: string }>(entries: readonly Entry[]): Entry[] =>
  Array.from(new Map(entries.map((entry) => [entry.id, entry])).values());
