import { compareResults, isBlocking, keyText, missingResult } from '../../schema/eval-diff.ts';
import type { DiffEntry } from '../../schema/eval-run.ts';
import { addUsd, spentUsd } from '../../schema/usd.ts';
import { columnOf, type Item, type Status, statusOf } from './report.ts';

/** Compares two sets of results test case by test case. Side A is the earlier set, side B the other one. */

export type Side = { label: string; items: readonly Item[] };

export type Verdict = 'worse' | 'missing' | 'changed' | 'new' | 'same' | 'better';

/** A row of the results: an item, the earlier item of its test case, and the difference. */
export type Result = {
  key: string;
  item: Item;
  before: Item | undefined;
  /** The item exists only in the earlier set. */
  isGone: boolean;
  entry: DiffEntry | undefined;
  verdict: Verdict | undefined;
};

const VERDICTS: Readonly<Record<DiffEntry['kind'], Verdict>> = {
  regression: 'worse',
  missing_from_new: 'missing',
  drift: 'changed',
  newly_added: 'new',
  still_failing: 'same',
  fixed: 'better',
  unchanged: 'same',
};

/** The kinds of differences, the worst first. */
export const KINDS: readonly string[] = Object.keys(VERDICTS);

export const columnsIn = (items: readonly Item[]): string[] => [...new Set(items.map(columnOf))];

/**
 * Results of the same models are matched by their whole key, and every difference counts. Results of different models
 * are matched by test case; they always differ in their texts and tokens, which says nothing about their quality.
 */
export const isByCase = (after: readonly Item[], before: readonly Item[]): boolean => {
  const columns = new Set(columnsIn(before));
  const others = columnsIn(after);
  return others.length !== columns.size || others.some((column) => !columns.has(column));
};

/** Smaller differences between the scores of a judge are noise. */
const JUDGE_STEP = 0.1;

const judged = (before: Item, after: Item): Verdict => {
  const [one, other] = [before.report.judge_score, after.report.judge_score];
  if (one === undefined || other === undefined || Math.abs(other - one) < JUDGE_STEP) return 'same';
  return other > one ? 'better' : 'worse';
};

const resultOf = (key: string, item: Item, before: Item | undefined, byCase: boolean): Result => {
  const entry = compareResults(before, item);
  const verdict =
    byCase && before && VERDICTS[entry.kind] !== 'better' && VERDICTS[entry.kind] !== 'worse'
      ? judged(before, item)
      : VERDICTS[entry.kind];
  return {
    key,
    item,
    before,
    isGone: false,
    entry: byCase && entry.kind === 'drift' ? undefined : entry,
    verdict,
  };
};

const STATUSES: readonly Status[] = ['failed', 'unplayable', 'passed'];

const severityOf = ({ item, entry, verdict }: Result): number => {
  if (verdict === undefined) return STATUSES.indexOf(statusOf(item.report));
  if (verdict === 'worse') return 0;
  if (verdict === 'better') return KINDS.indexOf('fixed');
  return KINDS.indexOf(entry?.kind ?? 'unchanged');
};

const bySeverity = (results: readonly Result[]): Result[] =>
  results.toSorted((one, other) => severityOf(one) - severityOf(other));

/** The worst results first. @param before undefined to list the results without a comparison */
export const resultsOf = (after: readonly Item[], before?: readonly Item[]): Result[] => {
  if (!before) {
    return bySeverity(
      after.map((item) => ({
        key: keyText(item),
        item,
        before: undefined,
        isGone: false,
        entry: undefined,
        verdict: undefined,
      })),
    );
  }
  const byCase = isByCase(after, before);
  const keyOf = (item: Item): string => keyText(byCase ? { ...item, cell: undefined } : item);
  const earlier = new Map(before.map((item) => [keyOf(item), item]));
  const results = after.map((item) => resultOf(keyOf(item), item, earlier.get(keyOf(item)), byCase));
  const known = new Set(results.map(({ key }) => key));
  const gone = before
    .filter((item) => !known.has(keyOf(item)))
    .map(
      (item): Result => ({
        key: keyOf(item),
        item,
        before: item,
        isGone: true,
        entry: missingResult(item),
        verdict: 'missing',
      }),
    );
  return bySeverity([...results, ...gone]);
};

export const blocks = ({ entry, verdict }: Result): boolean =>
  verdict === 'worse' || (entry !== undefined && isBlocking(entry));

export type Totals = {
  items: number;
  counts: Readonly<Record<Status, number>>;
  tokens: { input: number; output: number };
  durationMs: number;
  /** Undefined if no item reports a cost. */
  cost: number | undefined;
  failures: ReadonlyMap<string, number>;
};

export const totalsOf = (items: readonly Item[]): Totals => {
  const failures = new Map<string, number>();
  const counts = { passed: 0, failed: 0, unplayable: 0 };
  let [input, output, durationMs] = [0, 0, 0];
  let cost: number | undefined;
  for (const { report } of items) {
    const status = statusOf(report);
    counts[status] += 1;
    input += report.total_input_tokens;
    output += report.total_output_tokens;
    durationMs += report.session_duration_ms;
    cost = addUsd(cost, spentUsd(report));
    if (status !== 'failed') continue;
    for (const { kind } of report.failures) failures.set(kind, (failures.get(kind) ?? 0) + 1);
  }
  return {
    items: items.length,
    counts,
    tokens: { input, output },
    durationMs,
    cost,
    failures: new Map([...failures].sort(([, a], [, b]) => b - a)),
  };
};

/** The share of executed items that passed; undefined if none was executed. */
export const passRateOf = ({ items, counts }: Totals): number | undefined => {
  const executed = items - counts.unplayable;
  return executed === 0 ? undefined : counts.passed / executed;
};

export type ToolUse = { agent: string; tool: string; calls: number; failures: number; fixtures: number };

export const toolUseOf = (items: readonly Item[]): ToolUse[] => {
  const uses = new Map<string, ToolUse & { seen: Set<string> }>();
  for (const { fixture_id, report } of items) {
    for (const { agent_id: agent, tool, call_count, failure_count } of report.tool_calls_by_agent) {
      const key = JSON.stringify([agent, tool]);
      const use = uses.get(key) ?? { agent, tool, calls: 0, failures: 0, fixtures: 0, seen: new Set() };
      use.calls += call_count;
      use.failures += failure_count;
      use.seen.add(fixture_id);
      uses.set(key, use);
    }
  }
  return Array.from(uses.values(), ({ seen, ...use }) => ({ ...use, fixtures: seen.size })).sort(
    (a, b) => b.calls - a.calls,
  );
};
