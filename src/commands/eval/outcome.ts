import type { DiffEntry, EvalDiff, EvalItem, EvalRun } from '../../schema/eval-run.ts';
import { addUsd, spentUsd } from '../../schema/usd.ts';

/** Determines whether an eval run meets its thresholds, with reasons if not (evals-and-traces.md 6.5, 8.2). */

export const DIFFERENCES = ['regression', 'missing_from_new', 'drift', 'newly_added'] as const;
export type Difference = (typeof DIFFERENCES)[number];

export type Thresholds = {
  /** 0..1. Undefined: 1 without a baseline; 0 with one, where regressions count instead. */
  minPassRate: number | undefined;
  maxCostUsd: number | undefined;
  /** Acceptable differences from the baseline. */
  allowed: readonly Difference[];
};

export type Totals = {
  items: number;
  planned: number;
  passed: number;
  tokens: number;
  /** Sum of the known costs; undefined if no cost is known. */
  cost_usd: number | undefined;
};

export type Outcome = { totals: Totals; blocking: readonly DiffEntry[]; reasons: readonly string[] };

export const assess = (run: EvalRun, diff: EvalDiff | undefined, thresholds: Thresholds): Outcome => {
  const totals = totalsOf(run);
  const blocking = (diff?.entries ?? []).filter((entry) => isBlocking(entry, thresholds.allowed));
  const reasons = [
    ...(run.status === undefined ? [] : [`the run is ${run.status}`]),
    ...passReasons(totals, diff !== undefined, thresholds),
    ...costReasons(totals, thresholds),
    ...DIFFERENCES.flatMap((kind) => {
      const count = blocking.filter((entry) => entry.kind === kind).length;
      return count === 0 ? [] : [`${count} × ${kind} compared with the baseline`];
    }),
  ];
  return { totals, blocking, reasons };
};

const isBlocking = (entry: DiffEntry, allowed: readonly Difference[]): boolean => {
  if (entry.kind === 'newly_added') return !entry.passed && !allowed.includes('newly_added');
  return DIFFERENCES.some((kind) => kind === entry.kind && !allowed.includes(kind));
};

const totalsOf = ({ items, planned_item_count }: EvalRun): Totals => ({
  items: items.length,
  planned: planned_item_count ?? items.length,
  passed: items.filter(({ report }) => report.passed).length,
  tokens: items.reduce((sum, { report }) => sum + report.total_tokens, 0),
  cost_usd: items.map(({ report }) => spentUsd(report)).reduce(addUsd, undefined),
});

const passReasons = (
  { items, passed }: Totals,
  isCompared: boolean,
  { minPassRate }: Thresholds,
): readonly string[] => {
  const wanted = minPassRate ?? (isCompared ? 0 : 1);
  const rate = items === 0 ? 0 : passed / items;
  return rate >= wanted ? [] : [`${passed} of ${items} passed, wanted is ${percent(wanted)}`];
};

const costReasons = ({ cost_usd = 0 }: Totals, { maxCostUsd }: Thresholds): readonly string[] =>
  maxCostUsd === undefined || cost_usd <= maxCostUsd
    ? []
    : [`it cost ${dollars(cost_usd)}, allowed is ${dollars(maxCostUsd)}`];

export const percent = (share: number): string => `${Number((100 * share).toFixed(1))} %`;

export const dollars = (usd: number): string => `$${usd.toFixed(usd < 0.01 ? 6 : 2)}`;

/** One line that identifies an item among those of its run. */
export const nameOf = ({
  fixture_id,
  cell,
  sample_index,
}: Pick<EvalItem, 'fixture_id' | 'cell' | 'sample_index'>): string =>
  [
    fixture_id,
    cell?.model_id,
    cell?.agent_id,
    cell?.variant_id,
    sample_index === undefined ? undefined : `#${sample_index + 1}`,
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
