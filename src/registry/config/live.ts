import type { Provider } from '../../models/model.ts';
import type { AgentSpec } from '../../schema/agent.ts';
import type { ModelSpec, PoolSpec, ProviderSpec } from '../../schema/model.ts';
import type { Store } from '../../store/index.ts';
import type { Resolved } from '../agents.ts';
import type { Models } from '../models.ts';
import { openEnvelope } from '../namespaces/envelope.ts';
import type { Namespaces } from '../namespaces/namespaces.ts';
import { effectiveOf } from './content.ts';
import type { Lock } from './lock.ts';
import { partOf } from './parts.ts';
import { SCOPE } from './publication.ts';
import type { Publisher } from './publisher.ts';
import type { Snapshot } from './snapshot.ts';

/** What runs are resolved against. */
export type Live = {
  /**
   * The agent as it is now; with a `resolution_id`, as it was in that publication.
   * @throws Invalid `agent not found: <id>`, or why it cannot be resolved; Integrity
   */
  resolve(agentId: string, resolution_id?: string): Resolved;
  /** Those that are live now; the same object as long as nothing was published. */
  agents(): LiveAgents;
  /** As it is now. */
  spec(agentId: string): AgentSpec | undefined;
  /** An agent that is no entry, with what is live now. @throws Invalid why it cannot be resolved */
  compile(spec: AgentSpec): Resolved;
  /** Models as they are now. */
  models(): LiveModels;
  /**
   * Publishes what is live with one draft of an agent, for the run of that draft only.
   * @throws Invalid when the draft is not legal or cannot be resolved; nothing is published then
   */
  publishDraft(draft: unknown): Promise<Resolved>;
  /** Told whenever something else is live than before; must not throw. */
  watch(listener: () => void): void;
  /** MCP servers or remote agents have come or gone. */
  refresh(): Promise<void>;
};

export type LiveAgents = {
  /** Also of those that cannot be resolved. */
  readonly ids: readonly string[];
  /** milliseconds */
  readonly published_at: number;
};

export type LiveModels = {
  /** Those of the program are no entries, and have only an id. */
  providers: readonly (ProviderSpec | { id: string })[];
  models: readonly ModelSpec[];
  model_pools: readonly PoolSpec[];
  target: Models['target'];
  resolution_id: string;
};

export const createLive = ({
  store,
  publisher,
  namespaces,
  lock,
  program,
  refresh,
}: {
  store: Pick<Store, 'publications'>;
  publisher: Publisher;
  namespaces: Namespaces;
  lock: Lock;
  program: { providers: readonly Provider[] };
  refresh(): Promise<void>;
}): Live => {
  const agents = namespaces.of('agents');
  const listed = new WeakMap<Snapshot, LiveAgents>();
  return {
    resolve: (agentId, resolution_id) => {
      const snapshot = resolution_id ? publisher.at(resolution_id) : publisher.live();
      return snapshot.registry.resolve(agentId);
    },
    agents() {
      const live = publisher.live();
      const known = listed.get(live);
      if (known) return known;
      const publication = store.publications.get(SCOPE, Number(live.resolution_id));
      const found = {
        ids: live.records.agents.map(({ id }) => id),
        published_at: publication?.created_at_ms ?? 0,
      };
      listed.set(live, found);
      return found;
    },
    spec: (agentId) => publisher.live().registry.spec(agentId),
    compile: (spec) => publisher.live().registry.compile(spec),
    models() {
      const { records, registry, resolution_id } = publisher.live();
      const own = new Set(program.providers.map(({ id }) => id));
      return {
        ...records,
        providers: [
          ...records.providers.filter(({ id }) => !own.has(id)),
          ...program.providers.map(({ id }) => ({ id })),
        ],
        target: registry.models.target,
        resolution_id,
      };
    },
    publishDraft: (draft) =>
      lock(async () => {
        const { id, body } = openEnvelope(draft);
        const record = publisher.stored().agents.get(id);
        const spec = agents.check(agents.prepare(body, record && effectiveOf(agents, record)));
        return publisher.preview(partOf('agent', id, spec), ({ registry }) => registry.resolve(id));
      }),
    watch: (listener) => publisher.watch(() => listener()),
    refresh,
  };
};
