import type { Fixture } from '../schema/dataset.ts';
import { keyOf } from '../schema/eval-diff.ts';
import type { EvalFailure, EvalReport, RuntimeFailure } from '../schema/eval-report.ts';
import type { EvalItem } from '../schema/eval-run.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import type { EvaluationResult } from '../schema/trace.ts';
import type { Verdict } from './judge.ts';
import type { EvalPlan, Unit } from './plan.ts';
import { type Replay, storeTraces } from './replay.ts';
import { findFailures } from './score.ts';
import { counted, newTally, spentTokens, toolsOf } from './tally.ts';

/**
 * Converts the outcome of a cell to an item of its run: scored, with its traces written (evals-and-traces.md 5.4 to
 * 5.6).
 */

export type ItemDeps = { log: Pick<ServiceLog, 'warn'> };

export type CellTask = { scope: string; plan: EvalPlan; unit: Unit };

/** The outcome of a cell before scoring. */
export type Outcome = {
  replay: Replay | undefined;
  elapsed_ms: number;
  runtime_failure?: RuntimeFailure | undefined;
  error_type?: string | undefined;
  revisions?: number;
  verdict?: Verdict | undefined;
  /** The reason why there is no verdict of the judge. */
  unscored?: string | undefined;
  cost_usd?: number | undefined;
  judge_cost_usd?: number | undefined;
};

export const runtimeError = (message: string): Extract<RuntimeFailure, { kind: 'runtime_error' }> => ({
  kind: 'runtime_error',
  message,
});

export const createItem = async (deps: ItemDeps, { unit }: CellTask, outcome: Outcome): Promise<EvalItem> => {
  const report = await createReport(unit.fixture, outcome);
  const trace_run_id = outcome.replay && (await traced(deps, outcome.replay, outcome.verdict));
  const { fixture_id, cell, sample_index } = keyOf(unit);
  return {
    fixture_id,
    ...(cell && { cell }),
    report,
    ...(trace_run_id !== undefined && { trace_run_id }),
    ...(sample_index !== undefined && { sample_index }),
  };
};

const createReport = async (fixture: Fixture, outcome: Outcome): Promise<EvalReport> => {
  const { replay, unscored, verdict, error_type } = outcome;
  const tally = replay?.tally ?? newTally();
  const final_text = replay?.answer ?? '';
  const scoring = unscored === undefined ? undefined : runtimeError(unscored);
  const runtime_failure = outcome.runtime_failure ?? scoring;
  const session_duration_ms = replay?.duration_ms ?? 0;
  const failures: EvalFailure[] = await findFailures(fixture.expect, {
    final_text,
    structured_output: replay?.structured_output,
    calls: tally.calls,
    total_tokens: spentTokens(tally),
    duration_ms: session_duration_ms,
    error_type,
    runtime_failure,
    judge_score: verdict?.score,
  });
  if (outcome.runtime_failure && scoring) {
    failures.push({ kind: 'replay_runtime_failure', failure: scoring });
  }
  const { structured_output } = replay ?? {};
  const tools = toolsOf(tally);
  return {
    fixture_id: fixture.id,
    passed: failures.length === 0,
    failures,
    final_text,
    ...(structured_output !== undefined && { structured_output }),
    ...counted(tally),
    session_duration_ms,
    elapsed_ms: outcome.elapsed_ms,
    ...(tools.length > 0 && { tool_calls_by_agent: tools }),
    ...(error_type !== undefined && { error_type }),
    ...(tally.inference_error_count > 0 && { inference_error_count: tally.inference_error_count }),
    ...(runtime_failure && { runtime_failure }),
    ...judgementOf(outcome),
  };
};

/** The costs of the cell, and what its judge returned. */
const judgementOf = ({ cost_usd, judge_cost_usd, revisions = 0, verdict }: Outcome) => ({
  ...(cost_usd !== undefined && { cost_usd }),
  ...(judge_cost_usd !== undefined && { judge_cost_usd }),
  ...(revisions > 0 && { revision_count: revisions }),
  ...(verdict && { judge_score: verdict.score }),
  ...(verdict?.reasoning !== undefined && { judge_reasoning: verdict.reasoning }),
});

/** A failed write of the trace does not affect the item. */
const traced = async (
  { log }: ItemDeps,
  replay: Replay,
  verdict: Verdict | undefined,
): Promise<string | undefined> => {
  try {
    return await storeTraces(replay, verdict && resultOf(verdict));
  } catch (err) {
    log.warn('eval.trace_write_failed', { err });
    return undefined;
  }
};

const resultOf = ({ score: score_value, reasoning: explanation }: Verdict): EvaluationResult => ({
  name: 'judge',
  score_value,
  ...(explanation !== undefined && { explanation }),
});
