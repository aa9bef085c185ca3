import { createHash } from 'node:crypto';
import type { InferenceEnd, Model } from '../../models/model.ts';
import { type Clock, type Ids, monotonic } from '../../schema/clock.ts';
import { type Message, textOf } from '../../schema/message.ts';
import type { CompactionPlan } from './compaction.ts';
import { estimateMessage } from './estimate.ts';
import type { CompactionSettings } from './settings.ts';
import type { ShorteningLimits } from './shorten.ts';
import { summarize } from './summarize.ts';
import { type SummaryPrompt, savesEnough, summaryMessage, summaryPrompt } from './summary.ts';

/**
 * Compaction in the background (agent-loop.md 12.3).
 *
 * Guarantees: at most one task at a time; `begin` does not wait; nothing is written here: the outcome of a task is
 * data, and the caller commits the message and emits the event. An outcome never rejects, and a cancelled task ends at
 * once, whatever the model does.
 * Costs: one inference of the summarizer per task.
 */

/** The inference of a summary. A completed inference has `end`, a failed one has `error`. */
export type SummaryInference = {
  seconds: number;
  provider: string;
  upstream: string;
  text: string;
  end?: InferenceEnd;
  error?: unknown;
};

export type CompactionOutcome = {
  task_id: string;
  plan: CompactionPlan;
  /** Undefined when the task was cancelled before the inference ended. */
  inference: SummaryInference | undefined;
  ended_at_ms: number;
  result:
    | { kind: 'completed'; message: Message; post_tokens: number; summary_hash: string }
    | { kind: 'failed'; error: string }
    | { kind: 'skipped'; reason: 'insufficient_savings'; post_tokens: number }
    | { kind: 'cancelled' };
};

export type CompactionTask = {
  task_id: string;
  plan: CompactionPlan;
  started_at_ms: number;
  outcome: Promise<CompactionOutcome>;
};

export type Compactor = {
  /** Returns `undefined` while a task is running or its outcome was not taken. `model`: replaces that of the agent. */
  begin(plan: CompactionPlan, model?: Model): CompactionTask | undefined;
  /** Returns the outcome of an ended task once. */
  take(): CompactionOutcome | undefined;
  /** Ends the running task as cancelled. */
  cancel(): void;
};

export type CompactorDeps = {
  model: Model;
  settings: CompactionSettings;
  /** Limits for tool results sent to the summarizer. */
  limits: ShorteningLimits;
  /** Converts raw messages to those that a model may see, without retracted ones. */
  view(messages: readonly Message[]): readonly Message[];
  clock: Clock;
  ids: Ids;
};

export const createCompactor = (deps: CompactorDeps): Compactor => {
  let running: AbortController | undefined;
  let ended: CompactionOutcome | undefined;
  return {
    begin(plan, model = deps.model) {
      if (running || ended || deps.settings.mode === 'off') return undefined;
      const controller = new AbortController();
      running = controller;
      const task_id = deps.ids.uuid();
      let inference: SummaryInference | undefined;
      const observe = (observed: SummaryInference): void => {
        inference = observed;
      };
      const outcome = outcomeOf({ ...deps, model, observe }, plan, controller.signal).then((result) => {
        running = undefined;
        ended = { task_id, plan, inference, ended_at_ms: deps.clock.now(), result };
        return ended;
      });
      return { task_id, plan, started_at_ms: deps.clock.now(), outcome };
    },
    take() {
      const taken = ended;
      ended = undefined;
      return taken;
    },
    cancel: () => running?.abort(),
  };
};

type Result = CompactionOutcome['result'];
type TaskDeps = CompactorDeps & { observe(inference: SummaryInference): void };

const outcomeOf = (deps: TaskDeps, plan: CompactionPlan, signal: AbortSignal): Promise<Result> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'cancelled' }), { once: true });
    compact(deps, plan, signal).then(resolve, (error: unknown) =>
      resolve({ kind: 'failed', error: error instanceof Error ? error.message : String(error) }),
    );
  });

const compact = async (deps: TaskDeps, plan: CompactionPlan, signal: AbortSignal): Promise<Result> => {
  const { settings, limits, view, ids } = deps;
  const prompt = summaryPrompt({ ...plan, messages: view(plan.messages) }, settings, limits);
  const text = await observed(deps, prompt, signal);
  if (text.trim() === '') return { kind: 'failed', error: 'the summarizer returned an empty completion' };
  const message = summaryMessage(ids.uuid(), text, plan);
  const post_tokens = estimateMessage(message);
  if (!savesEnough(post_tokens, plan, settings)) {
    return { kind: 'skipped', reason: 'insufficient_savings', post_tokens };
  }
  const summary_hash = createHash('sha256').update(textOf(message.content)).digest('hex');
  return { kind: 'completed', message, post_tokens, summary_hash };
};

/** @throws ModelError */
const observed = async (
  { model, clock, observe }: TaskDeps,
  prompt: SummaryPrompt,
  signal: AbortSignal,
): Promise<string> => {
  const startedAt = monotonic(clock);
  const of = { provider: model.provider, upstream: prompt.upstream_model ?? model.upstream };
  const seconds = (): number => (monotonic(clock) - startedAt) / 1000;
  try {
    const { text, end } = await summarize(model, prompt, signal);
    observe({ seconds: seconds(), ...of, text, end });
    return text;
  } catch (error) {
    observe({ seconds: seconds(), ...of, text: '', error });
    throw error;
  }
};
