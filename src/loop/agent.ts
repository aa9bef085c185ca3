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
  /** Of a remote agent no more than its name. */
  readonly model: Model;
  /** Kinds of input that the model is known to accept; undefined where nothing is known. */
  readonly accepts?: AcceptedInput;
  /** Where it runs, when that is not here. */
  readonly remote?: RemoteAgent;
  /** Tools offered to the model, by id. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** What its plugins do, in the order in which the spec lists them. */
  readonly plugins: readonly ActivePlugin[];
  /** Made once from its `max_rounds` and `stop_conditions`. */
  readonly stop: StopPolicies;
  /** Of its spec, within what its model takes. */
  readonly contextPolicy: ContextPolicy | undefined;
  readonly compaction: CompactionFacts | undefined;
  /** Section `retry`. */
  readonly retry: RetrySettings;
  /** The registry snapshot it was resolved against; decimal text. */
  readonly resolution_id: string;
};

export type ActivePlugin = { readonly id: string; readonly parts: PluginParts };

/** With what a compactor of this agent is made. */
export type CompactionFacts = Pick<CompactorDeps, 'model' | 'settings' | 'limits'>;
