import { type AgentAddress, addressText, UnknownAddress } from '../../schema/agent-address.ts';
import type { Lock } from '../../schema/lock.ts';
import { Integrity } from '../../schema/outcome.ts';
import type { Store } from '../../store/index.ts';
import type { Resolved } from '../agents.ts';
import { createPart, type Part } from './parts.ts';
import { SCOPE } from './publication.ts';
import type { Publisher } from './publisher.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Resolves versions and drafts of agents (config.md 8.1).
 *
 * Guarantees: models, tools, providers and the other agents are those of the live configuration. An agent that is not
 * live has no addresses.
 * Cost: the first use of a version publishes a one-off snapshot, as a preview does; later uses find it until the live
 * configuration changes or the process ends.
 */
export type AddressedAgents = {
  /** @throws UnknownAddress, Invalid why it cannot be resolved */
  resolve(address: AgentAddress): Promise<Resolved>;
};

type Deps = {
  store: Pick<Store, 'publications' | 'agentDrafts'>;
  publisher: Pick<Publisher, 'live' | 'preview' | 'at'>;
  lock: Lock;
};

export const createAddressedAgents = ({ store, publisher, lock }: Deps): AddressedAgents => {
  const published = createPublished(publisher);

  const versionPart = (address: AgentAddress, version: number): Part => {
    const { agent_id } = address;
    const found = store.publications.version(SCOPE, 'agent', agent_id, version);
    if (!found || found.preview) throw new UnknownAddress(address);
    const part = createPart('agent', agent_id, found.value);
    if (part.hash() !== found.hash)
      throw new Integrity(`version ${version} of agent '${agent_id}' does not match its hash`);
    return part;
  };

  const sourceOf = (address: AgentAddress): Source => {
    const { agent_id, version } = address;
    if (version === 'draft') {
      const spec = store.agentDrafts.get(agent_id);
      if (!spec) throw new UnknownAddress(address);
      const part = createPart('agent', agent_id, spec);
      return { name: `${addressText(address)} ${part.hash()}`, part: () => part, version: undefined };
    }
    if (!publisher.live().registry.spec(agent_id)) throw new UnknownAddress(address);
    return { name: addressText(address), part: () => versionPart(address, version), version };
  };

  return {
    async resolve(address) {
      const { agent_id } = address;
      const { name, part: read, version } = sourceOf(address);
      const known = published.find(name, agent_id);
      if (known) return known;
      return lock(async () => {
        const earlier = published.find(name, agent_id);
        if (earlier) return earlier;
        const part = read();
        if (liveHash(publisher.live(), agent_id) === part.hash())
          return publisher.live().registry.resolve(agent_id);
        const agent = await publisher.preview(part, ({ registry }) => registry.resolve(agent_id), version);
        published.note(name, agent);
        return agent;
      });
    },
  };
};

/** The content that an address names. A draft changes without a publication, so its name contains its hash. */
type Source = { name: string; part(): Part; version: number | undefined };

/** The separate snapshots of addresses, which are valid as long as the live one. */
const createPublished = (publisher: Deps['publisher']) => {
  let madeFor: Snapshot | undefined;
  let ids = new Map<string, string>();
  return {
    find(name: string, agentId: string): Resolved | undefined {
      if (madeFor !== publisher.live()) {
        madeFor = publisher.live();
        ids = new Map();
      }
      const id = ids.get(name);
      return id === undefined ? undefined : publisher.at(id).registry.resolve(agentId);
    },
    note: (name: string, { resolution_id }: Resolved): void => {
      ids.set(name, resolution_id);
    },
  };
};

const liveHash = ({ parts }: Snapshot, agentId: string): string | undefined =>
  parts.find(({ kind, id }) => kind === 'agent' && id === agentId)?.hash();
