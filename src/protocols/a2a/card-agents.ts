import { agentNotFound } from './errors.ts';

/**
 * Agents as A2A sees them: those that this service runs itself, each of which is a tenant, and the one that is meant
 * when no tenant is named (a2a.md 4). An agent that another service runs is neither.
 *
 * Costs a look-up a question; an agent is resolved when it is asked for first in a publication.
 */
export type CardAgents = {
  /** What was published; another object after each publication. */
  published(): Published;
  isTenant(id: string): boolean;
  /** @throws A2aError 404 */
  checkTenant(id: string | undefined): void;
  /** Undefined when this service runs none. */
  publicAgent(): string | undefined;
  tenants(): string[];
  describe(id: string): string;
};

type Published = {
  readonly ids: readonly string[];
  /** milliseconds */
  readonly published_at: number;
};

export const createCardAgents = (deps: {
  published(): Published;
  /** @throws when there is no such agent, or it cannot be resolved */
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
