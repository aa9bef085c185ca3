import type { AcceptedInput, Model } from '../models/model.ts';
import type { RetrySettings } from '../models/retry.ts';
import type { CompactorDeps } from '../plugins/context/compactor.ts';
import type { PluginParts } from '../plugins/plugin.ts';
import type { StopPolicies } from '../plugins/stop/policies.ts';
import type { AgentSpec } from '../schema/agent.ts';
import type { ContextPolicy } from '../schema/context-policy.ts';
import type { RemoteAgent } from '../tools/remote-agent.ts';
import type { Tool } from '../tools/tool.ts';

/** An agent with everything its spec names, resolved against one registry snapshot. It never changes during a run. */
export type ResolvedAgent = {
  readonly spec: AgentSpec;
  /** For a remote agent, only its name. */
  readonly model: Model;
  /** Input modalities that the model is known to accept; undefined if unknown. */
  readonly accepts?: AcceptedInput;
  /** The most tokens of an answer, unless a request limits them; undefined if unknown. */
  readonly mostOutput?: number | undefined;
  /** Tokens that its model reads in one request; undefined if unknown. */
  readonly contextWindow?: number | undefined;
  /** False for a model that is known not to support tools. */
  readonly takesTools?: boolean;
  /** The remote service that runs the agent, if any. */
  readonly remote?: RemoteAgent;
  /** Tools offered to the model, by id. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** The parts of its plugins, in the order in which the spec lists them. */
  readonly plugins: readonly ActivePlugin[];
  /** Built once from its `max_rounds` and `stop_conditions`. */
  readonly stop: StopPolicies;
  /** The policy of its spec, within the limits of its model. */
  readonly contextPolicy: ContextPolicy | undefined;
  readonly compaction: CompactionFacts | undefined;
  /** Section `retry`. */
  readonly retry: RetrySettings;
  /** The registry snapshot that it was resolved against; decimal text. */
  readonly resolution_id: string;
  /** The number of the published version of its spec; undefined for an agent that is no entry. */
  readonly version?: number | undefined;
};

export type ActivePlugin = { readonly id: string; readonly parts: PluginParts };

/** Settings for creating a compactor of this agent. */
export type CompactionFacts = Pick<CompactorDeps, 'model' | 'settings' | 'limits'>;
