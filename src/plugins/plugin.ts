import type { z } from 'zod';
import type { InferenceRequest } from '../models/model.ts';
import type { AgentSpec } from '../schema/agent.ts';
import type { AnswerPart } from '../schema/answer-part.ts';
import type { Message, ToolCall } from '../schema/message.ts';
import type { InferenceOverrides, Resume } from '../schema/run.ts';
import type { ToolResult, Usage } from '../schema/run-event.ts';
import type { StopCondition } from '../schema/stop-condition.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { StateKey, StateUpdate, StateView } from '../tools/state.ts';
import type { GateDecision, GatedCall, Json, Tool } from '../tools/tool.ts';

/**
 * What a plugin is (agent-loop.md 5.1, 14). A plugin is made once for a process and gives its parts for each agent
 * that lists it, from the agent's section. Parts keep nothing between calls: what must last is state, what must
 * happen later is a scheduled action, so a run that is taken up after a crash goes on as if nothing had been.
 */

/** Where a context message stands in the request (agent-loop.md 9.1). */
export type ContextTarget = 'system' | 'session' | 'conversation' | 'suffix_system';

/** Text that the model sees beside the history; it is never part of the history (agent-loop.md 9.2). */
export type ContextMessage = {
  /** A newer message of the same key replaces the older one. */
  key: string;
  content: string;
  target: ContextTarget;
  role?: 'system' | 'user';
  /** Steps that must pass before unchanged content is injected again; default 0. */
  cooldown_turns?: number;
  /** Stays for later steps; default false: it is gone after it was injected. */
  persistent?: boolean;
  /** Smaller comes first; default 0. */
  priority?: number;
};

/** Work for the next inference, or for the handler that a plugin gives under the key. */
export type ScheduledAction =
  | { key: 'runtime.add_context_message'; payload: ContextMessage }
  | { key: 'runtime.set_inference_override'; payload: Partial<InferenceOverrides> }
  | { key: 'runtime.exclude_tool'; payload: string }
  | { key: 'runtime.include_only_tools'; payload: string[] }
  | { key: `${string}:${string}`; payload: Json };

/** What a hook asks for. Hooks of a phase see the same state; what they ask for is committed together. */
export type HookOutcome = {
  state?: readonly StateUpdate[];
  actions?: readonly ScheduledAction[];
  /**
   * Become a part of the answer: of the one that was just given, for a hook behind an inference, and else of the next
   * one. What an answer cannot hold is left out, with a line in the log.
   */
  parts?: readonly AnswerPart[];
  /** Ends the run with `behavior_requested`; looked at after an inference. */
  end?: true;
};

export type HookContext = {
  readonly run_id: string;
  readonly thread_id: string;
  readonly agent: AgentSpec;
  /** 0-based */
  readonly step_index: number;
  readonly state: StateView;
  readonly signal: AbortSignal;
  /** milliseconds since the epoch */
  now(): number;
  /** What the model would be offered now: exclusions of this step are not applied yet. */
  tools(): readonly ToolDescriptor[];
  /** The history with what this run has added, oldest first. */
  messages(): readonly Message[];
};

type Result = HookOutcome | undefined;
type Hook<More = object> = (context: HookContext & More) => Result | Promise<Result>;

/** What an inference brought. */
export type InferenceOutcome = {
  text: string;
  calls: readonly ToolCall[];
  usage: Usage | undefined;
  /** upstream name */
  model: string;
};

export type Hooks = {
  run_start?: Hook;
  step_start?: Hook;
  before_inference?: Hook;
  after_inference?: Hook<{ readonly inference: InferenceOutcome }>;
  /** A suspended call was decided, either way; before it goes on or is taken back. */
  decided?: Hook<{ readonly call: GatedCall & { readonly decision: Resume } }>;
  before_tool_execute?: Hook<{ readonly call: ToolCall }>;
  after_tool_execute?: Hook<{ readonly call: ToolCall; readonly result: ToolResult }>;
  step_end?: Hook;
  run_end?: Hook;
};

export type Phase = keyof Hooks;

/** What a plugin does for one agent. */
export type PluginParts = {
  hooks?: Hooks;
  /** Asked before each call of a known tool. Must not have effects. */
  gate?(call: GatedCall, context: HookContext): GateDecision | Promise<GateDecision>;
  tools?: readonly Tool[];
  /** Evaluated behind those of the spec. */
  stop_conditions?: readonly StopCondition[];
  /** Handlers of the actions that this plugin schedules, by key (`<plugin id>:<name>`). */
  actions?: Readonly<Record<string, (payload: Json, context: HookContext) => Result | Promise<Result>>>;
  /** The last word on a request before it goes out; the stored history is not touched. */
  transformRequest?(request: InferenceRequest, context: HookContext): InferenceRequest;
};

/** The part of an agent's `sections` that belongs to a plugin, and how a console shows it. */
export type Section<Config> = {
  key: string;
  schema: z.ZodType<Config>;
  display_name?: string;
  description?: string;
  category?: string;
  editor?: string;
  default_value?: Json;
  ui_schema?: Record<string, Json>;
};

export type PluginAbout = {
  agent: AgentSpec;
  /** Tools of the agent that come from elsewhere: the catalogue, delegates, other plugins before this one. */
  tools: readonly ToolDescriptor[];
};

export type Plugin = {
  readonly id: string;
  readonly sections: readonly Section<unknown>[];
  /** The keys that it writes. */
  readonly state: readonly StateKey<unknown>[];
  /** Tools that it may bring to an agent, where that depends on more than it being listed. */
  readonly offers?: readonly ToolDescriptor[];
  /** @throws Invalid when a section is not legal: `invalid config for plugin <id>: section "<key>" — …` */
  parts(about: PluginAbout): PluginParts;
};
