import { isDeepStrictEqual } from 'node:util';
import { AD_HOC } from '../schema/dataset.ts';
import type { EvalReport } from '../schema/eval-report.ts';
import type { DiffEntry, EvalDiff, EvalItem, EvalMode, EvalRun } from '../schema/eval-run.ts';
import { Invalid } from '../schema/outcome.ts';
import { compareItems, type ItemKey, keyOf, keyText } from './keys.ts';

/** A run held against an earlier one (evals-and-traces.md 6.5). */

export type Compared = {
  dataset_id: string;
  dataset_revision: number;
  execution_mode: EvalMode;
  /** What it has, or what it is going to have. */
  keys: readonly ItemKey[];
};

export const comparedRun = (run: EvalRun): Compared => ({ ...run, keys: run.items });

/** @throws Invalid when the two cannot be compared */
export const checkComparable = (run: Compared, baseline: Compared): void => {
  if (run.dataset_id === AD_HOC || baseline.dataset_id === AD_HOC) {
    throw new Invalid('ad-hoc eval runs have no dataset that runs could be compared by');
  }
  if (run.dataset_id !== baseline.dataset_id) {
    throw new Invalid(
      `eval runs cannot be compared across datasets: '${run.dataset_id}' and '${baseline.dataset_id}'`,
    );
  }
  if (run.dataset_revision !== baseline.dataset_revision) {
    throw new Invalid(
      `eval runs of different dataset revisions cannot be compared: ${run.dataset_revision} and ${baseline.dataset_revision}`,
    );
  }
  if (run.execution_mode !== baseline.execution_mode) {
    throw new Invalid(
      `eval runs of different execution modes cannot be compared: ${run.execution_mode} and ${baseline.execution_mode}`,
    );
  }
  checkSamples(run, baseline);
  checkKeys(run);
  checkKeys(baseline);
};

const checkSamples = (run: Compared, baseline: Compared): void => {
  if (run.execution_mode !== 'live') return;
  const [mine, other] = [samplesOf(run), samplesOf(baseline)];
  if (mine !== undefined && other !== undefined && mine !== other) {
    throw new Invalid(`eval runs with different sample counts cannot be compared: ${mine} and ${other}`);
  }
};

/** Of each cell; undefined of a run without items. */
const samplesOf = ({ keys }: Compared): number | undefined => {
  const groups = new Map<string, Set<number>>();
  for (const { fixture_id, cell, sample_index = 0 } of keys) {
    const group = keyText({ fixture_id, cell });
    const samples = groups.get(group) ?? new Set();
    groups.set(group, samples.add(sample_index));
  }
  const counts = new Set<number>();
  for (const samples of groups.values()) {
    if (Math.max(...samples) >= samples.size) {
      throw new Invalid('an eval run with non-contiguous samples cannot be compared');
    }
    counts.add(samples.size);
  }
  if (counts.size > 1) throw new Invalid('an eval run with inconsistent sample counts cannot be compared');
  return [...counts][0];
};

const checkKeys = ({ keys }: Compared): void => {
  const seen = new Set<string>();
  for (const key of keys) {
    const text = keyText(key);
    if (seen.has(text)) throw new Invalid(`duplicate eval-run item key: ${text}`);
    seen.add(text);
  }
};

/** Relies on `checkComparable`. */
export const diffOf = (items: readonly EvalItem[], baseline: readonly EvalItem[]): EvalDiff => {
  const before = new Map(baseline.map((item) => [keyText(item), item]));
  const after = new Map(items.map((item) => [keyText(item), item]));
  const all = new Map([...before, ...after]);
  const entries = Array.from(all, ([key, item]) => entryOf(keyOf(item), before.get(key), after.get(key)));
  return { entries: entries.sort(compareItems) };
};

const entryOf = (key: ItemKey, before: EvalItem | undefined, after: EvalItem | undefined): DiffEntry => {
  if (!after) return { kind: 'missing_from_new', ...key };
  const { report } = after;
  if (!before) return { kind: 'newly_added', ...key, passed: report.passed };
  const new_failures = report.failures.map(({ kind }) => kind);
  if (before.report.passed !== report.passed) {
    return report.passed ? { kind: 'fixed', ...key } : { kind: 'regression', ...key, new_failures };
  }
  if (!report.passed) return { kind: 'still_failing', ...key, new_failures };
  const fields = DRIFTING.filter(
    (field) => !isDeepStrictEqual(compared(before.report, field), compared(report, field)),
  );
  return fields.length > 0 ? { kind: 'drift', ...key, fields: [...fields] } : { kind: 'unchanged', ...key };
};

const DRIFTING = [
  'final_text',
  'inference_count',
  'tool_count',
  'tool_failures',
  'total_input_tokens',
  'total_output_tokens',
  'total_tokens',
  'error_type',
  'inference_error_count',
  'runtime_failure',
  'tool_calls_by_agent',
  'cost_usd',
  'revision_count',
  'judge_score',
] as const satisfies (keyof EvalReport)[];

/** What is left out because it says nothing is the same as what says nothing. */
const compared = (report: EvalReport, field: (typeof DRIFTING)[number]): unknown => {
  if (field === 'tool_calls_by_agent') {
    return (report.tool_calls_by_agent ?? []).map(({ total_duration_ms: _, ...counts }) => counts);
  }
  if (field === 'inference_error_count' || field === 'revision_count') return report[field] ?? 0;
  return report[field];
};

/** Whether whoever releases by it should not (evals-and-traces.md 6.5). */
export const isBlocking = (entry: DiffEntry): boolean =>
  entry.kind === 'regression' ||
  entry.kind === 'missing_from_new' ||
  entry.kind === 'drift' ||
  (entry.kind === 'newly_added' && !entry.passed);
