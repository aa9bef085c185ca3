import type { ContextMessage, HookContext, HookOutcome, Phase, ScheduledAction } from '../plugins/plugin.ts';
import { isRewound } from '../schema/message.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';
import type { InferenceOverrides } from '../schema/run-overrides.ts';
import { type StateUpdate, type StateView, update } from '../tools/state.ts';
import { addAdmitted } from './answer-parts.ts';
import { contextStore, contextThrottle } from './context-messages.ts';
import { sortedParts } from './plugin-parts.ts';
import type { Turn } from './turn.ts';

/**
 * The phases of a run (agent-loop.md 5.1). Hooks of one phase run concurrently and see the same frozen state; their
 * outcomes are applied together. If two of them write the same key, the phase is repeated with one hook after the
 * other, so that each sees the writes of the previous one. Actions under a plugin's own key are executed in the same
 * phase, in a limited number of rounds; actions for the runtime are kept in the state for the next inference.
 */

/** A phase or a hook failed: the run ends, since a retry would not help (agent-loop.md 5.4). */
export class PhaseFailed extends Error {
  readonly final = true;

  constructor(phase: Phase, plugin: string, cause: unknown) {
    super(
      `${phase} of plugin '${plugin}' failed: ${maskForeign(cause instanceof Error ? cause.message : String(cause))}`,
      {
        cause,
      },
    );
    this.name = 'PhaseFailed';
  }
}

/** Actions of hooks and tools for the next inference. */
export type StepScratch = {
  overrides: Partial<InferenceOverrides>;
  excluded: Set<string>;
  /** Undefined: no list was given, every tool stays. */
  included: Set<string> | undefined;
  messages: ContextMessage[];
};

type HookResult = { plugin: string; outcome: HookOutcome };

/** Whether any hook exists for this phase. */
export const hasHooks = (turn: Turn, phase: Phase): boolean => sortedParts(turn.agent).hooks.has(phase);

/** True when a hook ends the run. */
export const runPhase = async (
  turn: Turn,
  phase: Phase,
  signal: AbortSignal,
  more: { readonly call?: { readonly id: string }; readonly [fact: string]: unknown } = {},
): Promise<boolean> => {
  const hooks = sortedParts(turn.agent).hooks.get(phase);
  if (!hooks) return false;
  const call = async ({ plugin, hook }: (typeof hooks)[number]): Promise<HookResult> => {
    try {
      return { plugin, outcome: (await hook({ ...createHookContext(turn, signal), ...more })) ?? {} };
    } catch (error) {
      throw new PhaseFailed(phase, plugin, error);
    }
  };
  // In a repeated step the same hook gets the same source id, so its parts replace the earlier ones.
  const at = `${phase} ${turn.steps} ${more.call?.id ?? ''}`;
  const takeOf = (plugin: string, outcome: HookOutcome): void => {
    take(turn, outcome);
    if (outcome.parts) addAdmitted(turn, outcome.parts, { plugin }, `${plugin} ${at}`);
  };
  const results = await Promise.all(hooks.map(call));
  if (signal.aborted) return false;
  if (!conflict(results)) {
    for (const { plugin, outcome } of results) takeOf(plugin, outcome);
  } else {
    results.length = 0;
    for (const hook of hooks) {
      const one = await call(hook);
      if (signal.aborted) return false;
      takeOf(hook.plugin, one.outcome);
      results.push(one);
    }
  }
  await runActions(turn, phase, signal);
  return results.some(({ outcome }) => outcome.end === true);
};

export const createHookContext = (turn: Turn, signal: AbortSignal): HookContext => ({
  run_id: turn.run_id,
  thread_id: turn.thread_id,
  user: turn.actsFor?.user,
  agent: turn.agent.spec,
  mayDecide: (author, tool) => turn.mayDecide?.(author, { agent_id: turn.agent.spec.id, tool }) ?? true,
  step_index: turn.step?.index ?? turn.steps,
  state: turn.state.view(),
  signal,
  now: turn.clock.now,
  tools: () => Array.from(turn.agent.tools.values(), (tool) => tool.descriptor),
  messages: () => [...turn.committed().filter((message) => !isRewound(message)), ...turn.produced],
});

const conflict = (results: readonly HookResult[]): boolean => {
  const writers = new Map<string, string>();
  for (const { plugin, outcome } of results) {
    for (const { key } of outcome.state ?? []) {
      const other = writers.get(key.key);
      if (other !== undefined && other !== plugin) return true;
      writers.set(key.key, plugin);
    }
  }
  return false;
};

/** Also applies the outcome of a tool. */
export const take = (
  turn: Turn,
  { state, actions }: { state?: readonly StateUpdate[]; actions?: HookOutcome['actions'] },
): void => {
  if (state) turn.state.apply(state);
  if (actions && actions.length > 0) schedule(turn, [...scheduled(turn), ...actions]);
};

const PENDING = '__runtime.pending_scheduled_actions';
const FAILED = '__runtime.failed_scheduled_actions';

// Only schedule writes under this key, and the value is JSON.
export const scheduled = (turn: Turn): ScheduledAction[] =>
  (turn.state.get(PENDING) as { actions: ScheduledAction[] } | undefined)?.actions ?? [];

const schedule = (turn: Turn, actions: readonly ScheduledAction[]): void =>
  turn.state.set(PENDING, { actions: JSON.parse(JSON.stringify(actions)) });

/** A run that ends leaves no action behind. */
export const clearScheduled = (turn: Turn): void => {
  if (scheduled(turn).length > 0) schedule(turn, []);
};

const isForRuntime = ({ key }: ScheduledAction): boolean => key.startsWith('runtime.');

/** A handler may schedule further actions; the number of rounds per phase is limited. */
const runActions = async (turn: Turn, phase: Phase, signal: AbortSignal): Promise<void> => {
  for (let round = 0; ; round += 1) {
    const waiting = scheduled(turn);
    const due = waiting.filter((action) => !isForRuntime(action));
    if (due.length === 0) return;
    if (round >= turn.maxPhaseRounds) {
      throw new PhaseFailed(phase, due[0]?.key ?? '', new Error(`more than ${round} rounds of actions`));
    }
    schedule(turn, waiting.filter(isForRuntime));
    for (const action of due) await runAction(turn, action, signal);
  }
};

/** A failure of a handler is recorded and not retried; the run continues. */
const runAction = async (turn: Turn, action: ScheduledAction, signal: AbortSignal): Promise<void> => {
  try {
    const handler = turn.agent.plugins.flatMap(({ parts }) => parts.actions?.[action.key] ?? [])[0];
    if (!handler) throw new Error(`no plugin of the agent handles '${action.key}'`);
    const payload = JSON.parse(JSON.stringify(action.payload));
    const outcome = (await handler(payload, createHookContext(turn, signal))) ?? {};
    take(turn, outcome);
    if (outcome.parts) addAdmitted(turn, outcome.parts, { action: action.key });
  } catch (error) {
    const before = turn.state.get(FAILED);
    const failure = {
      key: action.key,
      error: maskForeign(error instanceof Error ? error.message : String(error)),
      failed_at: turn.clock.now(),
    };
    turn.state.set(FAILED, [...(Array.isArray(before) ? before : []), failure]);
  }
};

/** The parts of the state of the run that the request of a step takes. */
export type Scratch = { actions: ScheduledAction[]; view: StateView };

export const scratchOf = (turn: Turn): Scratch => ({ actions: scheduled(turn), view: turn.state.view() });

/** A request that was not sent leaves the actions and the context messages for the next one. */
export const restoreScratch = (turn: Turn, { actions, view }: Scratch): void => {
  if (actions.length > 0) schedule(turn, actions);
  const changed = [contextStore, contextThrottle].filter(
    (key) => view.get<unknown>(key) !== turn.state.view().get<unknown>(key),
  );
  turn.state.apply(changed.map((key) => update<unknown>(key, view.get<unknown>(key))));
};

/** Takes the scheduled runtime actions for this step. */
export const takeScratch = (turn: Turn): StepScratch => {
  const scratch: StepScratch = { overrides: {}, excluded: new Set(), included: undefined, messages: [] };
  const actions = scheduled(turn).filter(isForRuntime);
  for (const action of actions) {
    // The key determines the type of the payload.
    const { key, payload } = action as Extract<ScheduledAction, { key: `runtime.${string}` }>;
    switch (key) {
      case 'runtime.add_context_message':
        scratch.messages.push(payload);
        break;
      case 'runtime.set_inference_override':
        Object.assign(scratch.overrides, payload);
        break;
      case 'runtime.exclude_tool':
        scratch.excluded.add(payload);
        break;
      case 'runtime.include_only_tools':
        scratch.included = new Set([...(scratch.included ?? []), ...payload]);
    }
  }
  if (actions.length > 0) schedule(turn, []);
  return scratch;
};
