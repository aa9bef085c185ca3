import type { Live } from '../configuration/control-plane/live.ts';
import { metered } from '../loop/allowance.ts';
import type { InferenceEnd } from '../models/model.ts';
import { DEFAULT_RETRY } from '../models/retry.ts';
import { ADMIN, type BudgetMeter, type UsageBook } from '../runtime/index.ts';
import { monotonic } from '../schema/clock.ts';
import type { Fixture } from '../schema/dataset.ts';
import type { EvalCell, EvalItem } from '../schema/eval-run.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import { Unavailable } from '../schema/outcome.ts';
import { timerMs } from '../schema/timer.ts';
import type { UsageNote } from '../schema/usage.ts';
import { liveAgent, scriptedAgent } from './agents.ts';
import { type CellTask, createItem, type Outcome, runtimeError } from './item.ts';
import { createQuestion, createRevisionInput, judge, type Verdict } from './judge.ts';
import { createReplay, playTurn, type Replay, type ReplayDeps } from './replay.ts';
import { createScriptedModel } from './scripted-model.ts';
import { countJudged, spentTokens } from './tally.ts';

/**
 * Executes one fixture in one cell, and scores it (evals-and-traces.md 5).
 *
 * Guarantees: whatever a model does, the cell ends by its deadline, and its stored data is bounded. Failures of a cell
 * appear in its report only; a cell has no item only if the run is cancelled or the service stops.
 */

export type CellDeps = ReplayDeps & {
  live: Pick<Live, 'spec' | 'compile' | 'models'>;
  /** Without it, no judgement is limited. */
  meter?: BudgetMeter | undefined;
  usage?: UsageBook | undefined;
  log: Pick<ServiceLog, 'warn'>;
};

/** @throws the reason of the signal, or Unavailable */
export const playCell = (deps: CellDeps, task: CellTask, signal: AbortSignal): Promise<EvalItem> => {
  const { plan, unit } = task;
  return plan.mode === 'live' && unit.cell
    ? playLive(deps, { ...task, cell: unit.cell }, signal)
    : playScripted(deps, task, signal);
};

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const playScripted = async (deps: CellDeps, task: CellTask, signal: AbortSignal): Promise<EvalItem> => {
  const { fixture } = task.unit;
  const startedAt = monotonic(deps.clock);
  const elapsed = (): number => Math.round(monotonic(deps.clock) - startedAt);
  const missing = unplayable(fixture);
  if (missing !== undefined) {
    const runtime_failure = { ...runtimeError(missing), no_script: true as const };
    return createItem(deps, task, { replay: undefined, elapsed_ms: elapsed(), runtime_failure });
  }
  const script = createScriptedModel(fixture);
  return withReplay(deps, task, scriptedAgent(fixture, script), signal, async (replay) => {
    const hasFailed = !(await playTurns(replay, fixture));
    const fired = script.firedError();
    const disagreement = script.disagreement(fixture.allow_unused_provider_script === true);
    const broken = hasFailed && fired === undefined ? runtimeError(replay.error ?? '') : undefined;
    return createItem(deps, task, {
      replay,
      elapsed_ms: elapsed(),
      runtime_failure: disagreement?.kind === 'script_exhausted' ? disagreement : (broken ?? disagreement),
      error_type: hasFailed ? fired : undefined,
    });
  });
};

/** The reason why a fixture has no script to replay. */
const unplayable = ({ provider_script_error, continued_turns = [] }: Fixture): string | undefined => {
  const explain = (where: string, reason: string): string =>
    `${where} has no replayable provider_script: ${reason}`;
  if (provider_script_error !== undefined) return explain('the fixture', provider_script_error);
  const at = continued_turns.findIndex((turn) => turn.provider_script_error !== undefined);
  const reason = continued_turns[at]?.provider_script_error;
  return reason === undefined ? undefined : explain(`continued_turn ${at + 1}`, reason);
};

const withReplay = async (
  deps: CellDeps,
  { scope, plan, unit }: CellTask,
  agent: Replay['agent'],
  signal: AbortSignal,
  play: (replay: Replay) => Promise<EvalItem>,
): Promise<EvalItem> => {
  const thread_id = `eval-thread-${unit.fixture_id}`;
  const replay = createReplay(deps, { scope, thread_id, mode: plan.mode, agent, signal });
  try {
    return await play(replay);
  } finally {
    replay.spans?.settle();
  }
};

/** Stops after the first turn that fails. */
const playTurns = async (replay: Replay, { user_input, continued_turns = [] }: Fixture): Promise<boolean> => {
  for (const input of [user_input, ...continued_turns.map((turn) => turn.user_input)]) {
    if (!(await playTurn(replay, input))) return false;
  }
  return true;
};

type LiveTask = CellTask & { cell: EvalCell };

const playLive = async (deps: CellDeps, task: LiveTask, signal: AbortSignal): Promise<EvalItem> => {
  const { plan, unit, cell } = task;
  const startedAt = monotonic(deps.clock);
  const elapsed = (): number => Math.round(monotonic(deps.clock) - startedAt);
  const deadline = deadlineIn(plan.max_walltime_secs);
  const cut = AbortSignal.any([signal, deadline.signal]);
  try {
    const agent = liveAgent(plan, cell, unit.fixture, deps.live);
    return await withReplay(deps, task, agent, cut, async (replay) => {
      const played = await playAndRevise(deps, task, replay);
      const judged = await judgedFinally(deps, task, replay, played.verdict);
      signal.throwIfAborted();
      return createItem(deps, task, {
        replay,
        elapsed_ms: elapsed(),
        ...failureOf(task, replay),
        revisions: played.revisions,
        ...judged,
        cost_usd: replay.tally.usd,
        judge_cost_usd: replay.tally.judged.usd,
      });
    });
  } catch (error) {
    signal.throwIfAborted();
    const isLate = deadline.signal.aborted;
    if (!isLate && error instanceof Unavailable) throw error;
    const message = isLate ? `cell walltime exceeded: max ${plan.max_walltime_secs}s` : wordsOf(error);
    const runtime_failure = runtimeError(message);
    return createItem(deps, task, { replay: undefined, elapsed_ms: elapsed(), runtime_failure });
  } finally {
    deadline.clear();
  }
};

const deadlineIn = (secs: number): { signal: AbortSignal; clear(): void } => {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timerMs(secs * 1000));
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
};

type Played = {
  revisions: number;
  /** Verdict on the last completion. */
  verdict: Verdict | undefined;
};

const playAndRevise = async (deps: CellDeps, task: LiveTask, replay: Replay): Promise<Played> => {
  const { plan, unit } = task;
  const { min_judge_score: threshold } = unit.fixture.expect;
  const retries = plan.judge?.revise_max_retries ?? 0;
  let revisions = 0;
  if (!(await playTurns(replay, unit.fixture)) || threshold === undefined || retries === 0) {
    return { revisions, verdict: undefined };
  }
  for (;;) {
    const verdict = await verdictOn(deps, task, replay).catch(() => undefined);
    if (!verdict || verdict.score >= threshold || revisions === retries || replay.signal.aborted) {
      return { revisions, verdict };
    }
    revisions += 1;
    if (!(await playTurn(replay, createRevisionInput(replay.answer, verdict, threshold)))) {
      return { revisions, verdict: undefined };
    }
  }
};

/** @throws errors of the model, the reason of the signal, or Error if the completion is not a verdict */
const verdictOn = async (
  { live, clock, observe, meter, usage }: CellDeps,
  { plan, unit: { fixture } }: LiveTask,
  { answer, signal, scope, thread_id, agent, tally }: Replay,
): Promise<Verdict> => {
  signal.throwIfAborted();
  const startedAt = monotonic(clock);
  const { model_id = '', rubric = '' } = plan.judge ?? {};
  const { route, mostOutput } = live.models().target(model_id);
  const payer = { scope, ...ADMIN, run: thread_id };
  const account = meter?.isActive() ? meter.open({ payer, isStored: false, notify() {} }) : undefined;
  const model = metered(account, { agent: agent.spec.id, model: route(DEFAULT_RETRY), mostOutput });
  const inputs = [fixture.user_input, ...(fixture.continued_turns ?? []).map((turn) => turn.user_input)];
  const question = createQuestion({ inputs, answer, rubric }, { thread_id, run_id: thread_id });
  const used = usage?.open({ scope, user: ADMIN.user, isStored: false });
  const answered = (end: InferenceEnd): void => {
    countJudged(tally, end);
    used?.note(judgementOf(agent.spec.id, model_id, end));
    const { provider, upstream } = end.by ?? model;
    observe.inference.ended({
      status: 'ok',
      agent: agent.spec.id,
      model: upstream,
      provider,
      seconds: (monotonic(clock) - startedAt) / 1000,
      ...(end.usage && { usage: end.usage }),
    });
  };
  const verdict = judge(model, question, signal, answered).finally(() => {
    account?.close();
    used?.close();
  });
  return unlessAborted(verdict, signal);
};

const judgementOf = (agent: string, model: string, { usage, cost_usd }: InferenceEnd): UsageNote => ({
  agent,
  model,
  inferences: 1,
  input: usage?.prompt_tokens ?? 0,
  output: usage?.completion_tokens ?? 0,
  usd: cost_usd,
});

/** Stops waiting for a judge that ignores the signal. */
const unlessAborted = <Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });

/** A known verdict is on the last completion; otherwise the judge is called now. */
const judgedFinally = async (
  deps: CellDeps,
  task: LiveTask,
  replay: Replay,
  verdict: Verdict | undefined,
): Promise<Pick<Outcome, 'verdict' | 'unscored'>> => {
  if (task.unit.fixture.expect.min_judge_score === undefined || verdict) return { verdict };
  try {
    return { verdict: await verdictOn(deps, task, replay) };
  } catch (error) {
    const late = `scoring timed out after ${task.plan.max_walltime_secs}s`;
    return { unscored: replay.signal.aborted ? late : `scoring failed: ${wordsOf(error)}` };
  }
};

/** A failure that the fixture expects is not reported. */
const failureOf = (
  { plan, unit }: CellTask,
  { tally, error }: Replay,
): Pick<Outcome, 'runtime_failure' | 'error_type'> => {
  const error_type = error === undefined ? undefined : tally.errorClass;
  const { max_total_tokens: most } = plan;
  // Another failure takes precedence over the budget, unless the completed inferences alone exceed the budget.
  const spent = error === undefined ? spentTokens(tally) : tally.total;
  if (spent > most) {
    return {
      error_type,
      runtime_failure: runtimeError(`token budget exceeded: ${spent} > max ${most}`),
    };
  }
  const isExpected = error_type !== undefined && error_type === unit.fixture.expect.expected_error_type;
  return error === undefined || isExpected
    ? { error_type }
    : { error_type, runtime_failure: runtimeError(error) };
};
