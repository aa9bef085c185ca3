import type { Model } from '../models/model.ts';
import type { AgentSpec } from '../schema/agent.ts';
import type { Tool } from '../tools/tool.ts';

/** An agent with everything its spec names, resolved against one registry snapshot. It never changes during a run. */
export type ResolvedAgent = {
  readonly spec: AgentSpec;
  readonly model: Model;
  /** Tools offered to the model, by id. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** The registry snapshot it was resolved against; decimal text. */
  readonly resolution_id: string;
};
