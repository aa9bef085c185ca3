import type { ContextMessage, HookContext, HookOutcome, Phase, ScheduledAction } from '../plugins/plugin.ts';
import { isRewound } from '../schema/message.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';
import type { InferenceOverrides } from '../schema/run.ts';
import type { StateUpdate } from '../tools/state.ts';
import { addAdmitted } from './answer-parts.ts';
import { partsOf } from './plugin-parts.ts';
import type { Turn } from './turn.ts';

/**
 * The phases of a run (agent-loop.md 5.1). Hooks of one phase run concurrently and see the same frozen state; what
 * they ask for is applied together. If two of them wrote the same key, the phase is run again, one hook after the
 * other, so that each sees what the one before wrote. Actions under a plugin's own key are carried out in the same
 * phase, in bounded rounds; those for the runtime wait in the state for the next inference.
 */

/** A phase or a hook failed: the run ends, trying again would not help (agent-loop.md 5.4). */
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

/** What hooks and tools have scheduled for the next inference. */
export type StepScratch = {
  overrides: Partial<InferenceOverrides>;
  excluded: Set<string>;
  /** Undefined: no list was given, every tool stays. */
  included: Set<string> | undefined;
  messages: ContextMessage[];
};

type Asked = { plugin: string; outcome: HookOutcome };

/** Does anything happen in this phase? */
export const hasHooks = (turn: Turn, phase: Phase): boolean => partsOf(turn.agent).hooks.has(phase);

/** True when a hook ends the run. */
export const runPhase = async (
  turn: Turn,
  phase: Phase,
  signal: AbortSignal,
  more: { readonly call?: { readonly id: string }; readonly [fact: string]: unknown } = {},
): Promise<boolean> => {
  const hooks = partsOf(turn.agent).hooks.get(phase);
  if (!hooks) return false;
  const call = async ({ plugin, hook }: (typeof hooks)[number]): Promise<Asked> => {
    try {
      return { plugin, outcome: (await hook({ ...contextOf(turn, signal), ...more })) ?? {} };
    } catch (error) {
      throw new PhaseFailed(phase, plugin, error);
    }
  };
  // Of a step that is tried again it is the same hook that asks again.
  const at = `${phase} ${turn.steps} ${more.call?.id ?? ''}`;
  const takeOf = (plugin: string, outcome: HookOutcome): void => {
    take(turn, outcome);
    if (outcome.parts) addAdmitted(turn, outcome.parts, { plugin }, `${plugin} ${at}`);
  };
  const asked = await Promise.all(hooks.map(call));
  if (signal.aborted) return false;
  if (!conflict(asked)) {
    for (const { plugin, outcome } of asked) takeOf(plugin, outcome);
  } else {
    asked.length = 0;
    for (const hook of hooks) {
      const one = await call(hook);
      if (signal.aborted) return false;
      takeOf(hook.plugin, one.outcome);
      asked.push(one);
    }
  }
  await runActions(turn, phase, signal);
  return asked.some(({ outcome }) => outcome.end === true);
};

export const contextOf = (turn: Turn, signal: AbortSignal): HookContext => ({
  run_id: turn.run_id,
  thread_id: turn.thread_id,
  agent: turn.agent.spec,
  step_index: turn.step?.index ?? turn.steps,
  state: turn.state.view(),
  signal,
  now: turn.clock.now,
  tools: () => Array.from(turn.agent.tools.values(), (tool) => tool.descriptor),
  messages: () => [...turn.committed().filter((message) => !isRewound(message)), ...turn.produced],
});

const conflict = (asked: readonly Asked[]): boolean => {
  const writers = new Map<string, string>();
  for (const { plugin, outcome } of asked) {
    for (const { key } of outcome.state ?? []) {
      const other = writers.get(key.key);
      if (other !== undefined && other !== plugin) return true;
      writers.set(key.key, plugin);
    }
  }
  return false;
};

/** Also what a tool asks for with its result. */
export const take = (
  turn: Turn,
  { state, actions }: { state?: readonly StateUpdate[]; actions?: HookOutcome['actions'] },
): void => {
  if (state) turn.state.apply(state);
  if (actions && actions.length > 0) schedule(turn, [...scheduled(turn), ...actions]);
};

const PENDING = '__runtime.pending_scheduled_actions';
const FAILED = '__runtime.failed_scheduled_actions';

// Only schedule writes under this key, and what it writes is JSON.
export const scheduled = (turn: Turn): ScheduledAction[] =>
  (turn.state.get(PENDING) as { actions: ScheduledAction[] } | undefined)?.actions ?? [];

const schedule = (turn: Turn, actions: readonly ScheduledAction[]): void =>
  turn.state.set(PENDING, { actions: JSON.parse(JSON.stringify(actions)) });

/** A run that ends leaves no action behind. */
export const clearScheduled = (turn: Turn): void => {
  if (scheduled(turn).length > 0) schedule(turn, []);
};

const isForRuntime = ({ key }: ScheduledAction): boolean => key.startsWith('runtime.');

/** A handler may schedule more; the rounds of one phase are bounded. */
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

/** A handler that fails is recorded and not tried again; the run goes on. */
const runAction = async (turn: Turn, action: ScheduledAction, signal: AbortSignal): Promise<void> => {
  try {
    const handler = turn.agent.plugins.flatMap(({ parts }) => parts.actions?.[action.key] ?? [])[0];
    if (!handler) throw new Error(`no plugin of the agent handles '${action.key}'`);
    const payload = JSON.parse(JSON.stringify(action.payload));
    const outcome = (await handler(payload, contextOf(turn, signal))) ?? {};
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

/** What was scheduled for the runtime goes into this step. */
export const takeScratch = (turn: Turn): StepScratch => {
  const scratch: StepScratch = { overrides: {}, excluded: new Set(), included: undefined, messages: [] };
  const actions = scheduled(turn).filter(isForRuntime);
  for (const action of actions) {
    // The key says which of the runtime's own payloads it is.
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
