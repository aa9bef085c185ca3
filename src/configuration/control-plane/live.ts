import type { Provider } from '../../models/model.ts';
import type { AgentSpec } from '../../schema/agent.ts';
import type { AgentAddress } from '../../schema/agent-address.ts';
import type { Lock } from '../../schema/lock.ts';
import type { ModelSpec, PoolSpec, ProviderSpec } from '../../schema/model.ts';
import type { Store } from '../../store/index.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Resolved } from '../agents.ts';
import type { Models } from '../models.ts';
import { openEnvelope } from '../namespaces/envelope.ts';
import type { Namespaces } from '../namespaces/namespaces.ts';
import { createAddressedAgents } from './addressed-agents.ts';
import { resolveSpec } from './content.ts';
import { createPart } from './parts.ts';
import { SCOPE } from './publication.ts';
import type { Publisher } from './publisher.ts';
import { findTool, type Snapshot } from './snapshot.ts';

/** The configuration against which runs are resolved. */
export type Live = {
  /**
   * Returns the current agent, or with a `resolution_id` the agent of that publication.
   * @throws Invalid `agent not found: <id>`, or why it cannot be resolved; Integrity
   */
  resolve(agentId: string, resolution_id?: string): Resolved;
  /**
   * Resolves a published version or the draft of an agent with the models and tools of now, and publishes it for its runs
   * if necessary.
   * @throws Invalid `agent not found: <id>@<version>`, or why it cannot be resolved
   */
  resolveAddress(address: AgentAddress): Promise<Resolved>;
  /** Returns the live agents; the same object until the next publication. */
  agents(): LiveAgents;
  /** Returns the current spec. */
  spec(agentId: string): AgentSpec | undefined;
  /**
   * Resolves an agent that is not an entry against the live configuration. @throws Invalid why it cannot be resolved
   */
  compile(spec: AgentSpec): Resolved;
  /** Returns the current models. */
  models(): LiveModels;
  /** Returns a tool of the catalog, or of a plugin as an agent without settings has it. */
  tool(id: string): Tool | undefined;
  /**
   * Publishes the live configuration with one draft of an agent, for the run of that draft only.
   * @throws Invalid when the draft is invalid or cannot be resolved; then nothing is published
   */
  publishDraft(draft: unknown): Promise<Resolved>;
  /** Calls the listener whenever the live configuration changes; it must not throw. */
  watch(listener: () => void): void;
  /** Publishes after MCP tools or remote agents were added or removed. */
  refresh(): Promise<void>;
};

export type LiveAgents = {
  /** Includes agents that cannot be resolved. */
  readonly ids: readonly string[];
  /** Time in milliseconds. */
  readonly published_at: number;
};

export type LiveModels = {
  /** Providers of the embedding program are not entries and have only an id. */
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
  store: Pick<Store, 'publications' | 'agentDrafts'>;
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
    resolveAddress: createAddressedAgents({ store, publisher, lock }).resolve,
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
    tool: (id) => findTool(publisher.live(), id),
    publishDraft: (draft) =>
      lock(async () => {
        const { id, body } = openEnvelope(draft);
        const record = publisher.stored().agents.get(id);
        const spec = agents.check(agents.prepare(body, record && resolveSpec(agents, record)));
        return publisher.preview(createPart('agent', id, spec), ({ registry }) => registry.resolve(id));
      }),
    watch: (listener) => publisher.watch(() => listener()),
    refresh,
  };
};
