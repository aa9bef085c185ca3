import type { Model, Provider } from '../models/model.ts';
import { createProvider } from '../models/provider.ts';
import type { AgentSpec } from '../schema/agent.ts';
import { Invalid } from '../schema/outcome.ts';
import type { Catalogue } from '../tools/catalogue.ts';
import type { Tool } from '../tools/tool.ts';
import type { Records } from './records.ts';

/**
 * Agents with everything that their specs name, compiled once. A registry never changes: a run keeps the agent
 * that it was resolved with, and resolving one is a look-up.
 */

type Resolved = {
  readonly spec: AgentSpec;
  readonly model: Model;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly resolution_id: string;
};

export type Registry = {
  readonly resolution_id: string;
  /** @throws Invalid `agent not found: <id>` */
  resolve(agentId: string): Resolved;
};

export type RegistryInput = {
  records: Records;
  catalogue: Catalogue;
  /** Providers of the embedding program; they go over records of the same id. */
  providers: readonly Provider[];
  env: Record<string, string | undefined>;
  resolution_id: string;
};

/** @throws Invalid that names the record and what is wrong with it */
export const createRegistry = (input: RegistryInput): Registry => {
  const { records, catalogue, resolution_id } = input;
  const providers = new Map([
    ...records.providers.map((spec): [string, Provider] => [
      spec.id,
      within(`provider '${spec.id}'`, () => createProvider(spec, input.env)),
    ]),
    ...input.providers.map((provider): [string, Provider] => [provider.id, provider]),
  ]);
  const models = new Map(
    records.models.map((spec) => {
      const provider = providers.get(spec.provider_id);
      if (!provider) throw new Invalid(`model '${spec.id}': provider not found: ${spec.provider_id}`);
      return [spec.id, provider.model(spec)];
    }),
  );
  const agents = new Map(
    records.agents.map((spec): [string, Resolved] => {
      const model = models.get(spec.model_id);
      if (!model) throw new Invalid(`agent '${spec.id}': model not found: ${spec.model_id}`);
      const tools = within(`agent '${spec.id}'`, () => catalogue.select(spec));
      return [spec.id, { spec, model, tools, resolution_id }];
    }),
  );
  return {
    resolution_id,
    resolve(agentId) {
      const agent = agents.get(agentId);
      if (!agent) throw new Invalid(`agent not found: ${agentId}`);
      return agent;
    },
  };
};

const within = <Result>(where: string, make: () => Result): Result => {
  try {
    return make();
  } catch (error) {
    if (error instanceof Invalid) throw new Invalid(`${where}: ${error.message}`, { cause: error });
    throw error;
  }
};
