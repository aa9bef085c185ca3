import type { z } from 'zod';
import type { InferenceRequest } from '../models/model.ts';
import type { Resume } from '../schema/activation.ts';
import type { Actor } from '../schema/actor.ts';
import type { AgentSpec } from '../schema/agent.ts';
import type { AnswerPart } from '../schema/answer-part.ts';
import type { Message, ToolCall } from '../schema/message.ts';
import type { ToolResult, Usage } from '../schema/run-event.ts';
import type { InferenceOverrides } from '../schema/run-overrides.ts';
import type { StopCondition } from '../schema/stop-condition.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { StateKey, StateUpdate, StateView } from '../tools/state.ts';
import type { GateDecision, GatedCall, Json, Tool } from '../tools/tool.ts';

/**
 * The plugin interface (agent-loop.md 5.1, 14). A plugin is created once per process and returns its parts for each
 * agent that lists it, based on the agent's section. Parts keep no data between calls: lasting data is state, and later
 * work is a scheduled action, so a run that is recovered after a crash continues unchanged.
 */

/** Position of a context message in the request (agent-loop.md 9.1). */
export type ContextTarget = 'system' | 'session' | 'conversation' | 'suffix_system';

/**
 * Text that the model sees in addition to the history; it never becomes part of the history (agent-loop.md 9.2).
 *
 * @example
 * ```ts
 * const message: ContextMessage = {
 *   key: 'today',
 *   target: 'suffix_system',
 *   content: `Today is ${new Date().toDateString()}.`,
 * };
 * ```
 */
export type ContextMessage = {
  /** A newer message with the same key replaces the older one. */
  key: string;
  content: string;
  target: ContextTarget;
  role?: 'system' | 'user';
  /** Steps that must pass before unchanged content is injected again; default 0. */
  cooldown_turns?: number;
  /** Keeps the message for later steps; default false: it is removed after its injection. */
  persistent?: boolean;
  /** Messages with smaller values come first; default 0. */
  priority?: number;
};

/**
 * Work for the next inference, or for the handler that a plugin registers under the key `<plugin id>:<name>`.
 *
 * @example
 * ```ts
 * const actions: ScheduledAction[] = [
 *   { key: 'runtime.set_inference_override', payload: { temperature: 0 } },
 *   { key: 'runtime.exclude_tool', payload: 'transfer' },
 * ];
 * ```
 */
export type ScheduledAction =
  | { key: 'runtime.add_context_message'; payload: ContextMessage }
  | { key: 'runtime.set_inference_override'; payload: Partial<InferenceOverrides> }
  | { key: 'runtime.exclude_tool'; payload: string }
  | { key: 'runtime.include_only_tools'; payload: string[] }
  | { key: `${string}:${string}`; payload: Json };

/**
 * Effects that a hook returns. Hooks of a phase see the same state; their effects are committed together.
 *
 * @example
 * ```ts
 * const outcome: HookOutcome = {
 *   actions: [{ key: 'runtime.include_only_tools', payload: ['search'] }],
 *   parts: [{ url: 'https://example.com/terms.pdf' }],
 * };
 * ```
 */
export type HookOutcome = {
  state?: readonly StateUpdate[];
  actions?: readonly ScheduledAction[];
  /**
   * Added to a completion: in a hook after an inference to that completion, otherwise to the next one. Parts that the
   * completion cannot contain are dropped with a log line.
   */
  parts?: readonly AnswerPart[];
  /** Ends the run with `behavior_requested`; evaluated after an inference. */
  end?: true;
};

/**
 * The run and the step in which a hook or a gate is called.
 *
 * @example
 * ```ts
 * const isFirstStep = ({ step_index, messages }: HookContext): boolean => step_index === 0 && messages().length > 0;
 * ```
 */
export type HookContext = {
  readonly run_id: string;
  readonly thread_id: string;
  /** The user that the run acts for; absent for a run without a user. */
  readonly user?: string | undefined;
  readonly agent: AgentSpec;
  /** Returns whether the author of a decision still has the grant to decide calls of a tool of this agent. */
  mayDecide?(author: Actor, tool: string): boolean;
  /** 0-based */
  readonly step_index: number;
  readonly state: StateView;
  readonly signal: AbortSignal;
  /** milliseconds since the epoch */
  now(): number;
  /** The tools to offer to the model, before the exclusions of this step. */
  tools(): readonly ToolDescriptor[];
  /** The history including the messages of this run, oldest first. */
  messages(): readonly Message[];
};

type Result = HookOutcome | undefined;
type Hook<More = object> = (context: HookContext & More) => Result | Promise<Result>;

/**
 * The completion of an inference, for hooks after it.
 *
 * @example
 * ```ts
 * const isShort = ({ text, calls }: InferenceOutcome): boolean => text.length < 20 && calls.length === 0;
 * const hooks: Hooks = { after_inference: ({ inference }) => (isShort(inference) ? { end: true } : undefined) };
 * ```
 */
export type InferenceOutcome = {
  text: string;
  calls: readonly ToolCall[];
  usage: Usage | undefined;
  /** upstream name */
  model: string;
};

/**
 * Functions that the loop calls at the phases of a run (agent-loop.md 5.1). A hook may have effects only through its
 * outcome; an error that it throws fails the run.
 *
 * @example
 * ```ts
 * const hooks: Hooks = {
 *   after_tool_execute: ({ call, result }) => {
 *     if (result.status !== 'error') return undefined;
 *     return { actions: [{ key: 'runtime.exclude_tool', payload: call.name }] };
 *   },
 * };
 * ```
 */
export type Hooks = {
  run_start?: Hook;
  step_start?: Hook;
  before_inference?: Hook;
  after_inference?: Hook<{ readonly inference: InferenceOutcome }>;
  /** Runs after a decision on a suspended call, before the call continues or is rejected. */
  decided?: Hook<{ readonly call: GatedCall & { readonly decision: Resume } }>;
  before_tool_execute?: Hook<{ readonly call: ToolCall }>;
  after_tool_execute?: Hook<{ readonly call: ToolCall; readonly result: ToolResult }>;
  step_end?: Hook;
  run_end?: Hook;
};

export type Phase = keyof Hooks;

/**
 * The parts of a plugin for one agent, which its `create` returns.
 *
 * @example
 * ```ts
 * const parts: PluginParts = {
 *   gate: ({ name }) => (name === 'delete' ? { kind: 'block', reason: 'read-only' } : { kind: 'proceed' }),
 *   stop_conditions: [{ type: 'timeout', seconds: 60 }],
 * };
 * ```
 */
export type PluginParts = {
  hooks?: Hooks;
  /** Called before each call of a known tool. Must not have effects. */
  gate?(call: GatedCall, context: HookContext): GateDecision | Promise<GateDecision>;
  tools?: readonly Tool[];
  /** Evaluated after the conditions of the spec. */
  stop_conditions?: readonly StopCondition[];
  /** Handlers of the actions that this plugin schedules, by key (`<plugin id>:<name>`). */
  actions?: Readonly<Record<string, (payload: Json, context: HookContext) => Result | Promise<Result>>>;
  /** Applied last to a request before it is sent; the stored history is not changed. */
  transformRequest?(request: InferenceRequest, context: HookContext): InferenceRequest;
};

/**
 * The part of an agent's `sections` that belongs to a plugin, and how a console displays it.
 *
 * @example
 * ```ts
 * const section: Section<{ name: string }> = {
 *   key: 'greeter',
 *   schema: z.strictObject({ name: z.string().default('friend') }),
 *   display_name: 'Greeter',
 * };
 * ```
 */
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

/**
 * The agent for which the parts of a plugin are created.
 *
 * @example
 * ```ts
 * const quiet = definePlugin({
 *   id: 'quiet',
 *   create: (_config, { tools }: PluginAbout) => (tools.length > 20 ? { stop_conditions: [] } : {}),
 * });
 * ```
 */
export type PluginAbout = {
  agent: AgentSpec;
  /** Tools of the agent from other sources: the catalog, delegates, plugins before this one. */
  tools: readonly ToolDescriptor[];
};

/**
 * A plugin for `createTroupe`. `definePlugin` makes it; agents list it by id.
 *
 * @example
 * ```ts
 * const plugins: Plugin[] = [
 *   definePlugin({ id: 'limit', create: () => ({ stop_conditions: [{ type: 'max_rounds', rounds: 4 }] }) }),
 * ];
 * ```
 */
export type Plugin = {
  readonly id: string;
  readonly sections: readonly Section<unknown>[];
  /** State keys that the plugin writes. */
  readonly state: readonly StateKey<unknown>[];
  /** Tools that the plugin may add to an agent, if that depends on more than listing the plugin. */
  readonly offers?: readonly ToolDescriptor[];
  /** @throws Invalid for an invalid section: `invalid config for plugin <id>: section "<key>" — …` */
  parts(about: PluginAbout): PluginParts;
};
