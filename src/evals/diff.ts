import { AD_HOC } from '../schema/dataset.ts';
import { compareResults, keyText, missingResult, type ResultKey } from '../schema/eval-diff.ts';
import type { EvalDiff, EvalItem, EvalMode, EvalRun } from '../schema/eval-run.ts';
import { Invalid } from '../schema/outcome.ts';
import { compareItems } from './keys.ts';

/** Compares a run with an earlier one (evals-and-traces.md 6.5). */

export type Compared = {
  dataset_id: string;
  dataset_revision: number;
  execution_mode: EvalMode;
  /** Keys of the items that the run has or will have. */
  keys: readonly ResultKey[];
};

export const comparedRun = (run: EvalRun): Compared => ({ ...run, keys: run.items });

/** @throws Invalid if the runs cannot be compared */
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

/** Samples per cell; undefined for a run without items. */
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
export const createDiff = (items: readonly EvalItem[], baseline: readonly EvalItem[]): EvalDiff => {
  const before = new Map(baseline.map((item) => [keyText(item), item]));
  const after = new Map(items.map((item) => [keyText(item), item]));
  const entries = items.map((item) => compareResults(before.get(keyText(item)), item));
  const missing = baseline.filter((item) => !after.has(keyText(item))).map(missingResult);
  return { entries: [...entries, ...missing].sort(compareItems) };
};
