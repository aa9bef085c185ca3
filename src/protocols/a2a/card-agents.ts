import { agentNotFound } from './errors.ts';

/**
 * The agents that A2A exposes (a2a.md 4): each local agent is a tenant, and one of them is the default without a
 * tenant. Remote agents are not exposed.
 *
 * Cost: one lookup per call; an agent is resolved on its first use in a publication.
 */
export type CardAgents = {
  /** Returns the current publication; a new object after each publication. */
  published(): Published;
  isTenant(id: string): boolean;
  /** @throws A2aError 404 */
  checkTenant(id: string | undefined): void;
  /** Returns undefined if the service has no local agent. */
  publicAgent(): string | undefined;
  tenants(): string[];
  describe(id: string): string;
};

type Published = {
  readonly ids: readonly string[];
  /** Time in milliseconds. */
  readonly published_at: number;
};

export const createCardAgents = (deps: {
  published(): Published;
  /** @throws if the agent does not exist or cannot be resolved */
  resolve(id: string): { spec: { description?: string | undefined; endpoint?: object | undefined } };
  defaultId: string;
}): CardAgents => {
  const { published, resolve, defaultId } = deps;

  const isTenant = (id: string): boolean => {
    try {
      return resolve(id).spec.endpoint === undefined;
    } catch {
      return false;
    }
  };
  const ids = (): string[] => [...published().ids].sort();

  return {
    published,
    isTenant,
    checkTenant(id) {
      if (id !== undefined && !isTenant(id)) throw agentNotFound(id);
    },
    publicAgent: () => (isTenant(defaultId) ? defaultId : ids().find(isTenant)),
    tenants: () => ids().filter(isTenant),
    describe: (id) => resolve(id).spec.description?.trim() || `AI agent '${id}'`,
  };
};
