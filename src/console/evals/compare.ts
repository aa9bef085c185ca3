import { addUsd } from '../data/cost.ts';
import type { DiffEntry, Item, Kind, Report } from './report.ts';
import { KINDS, keyOf } from './report.ts';

/** One set of results held against an earlier one, as the service does it for runs. */

/** In the order in which they are looked at. Durations and what a judge says are never the same twice. */
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
] as const satisfies (keyof Report)[];

const said = (report: Report, field: (typeof DRIFTING)[number]): string | undefined => {
  if (field !== 'tool_calls_by_agent') return JSON.stringify(report[field]);
  return JSON.stringify(
    report.tool_calls_by_agent.map(({ agent_id, tool, call_count, failure_count }) => [
      agent_id,
      tool,
      call_count,
      failure_count,
    ]),
  );
};

const entryOf = (before: Item | undefined, after: Item | undefined): DiffEntry | undefined => {
  const item = after ?? before;
  if (!item) return undefined;
  const { fixture_id, cell, sample_index } = item;
  const entry = { fixture_id, cell, sample_index, fields: [], new_failures: [], passed: undefined };
  if (!after) return { ...entry, kind: 'missing_from_new' };
  const { report } = after;
  if (!before) return { ...entry, kind: 'newly_added', passed: report.passed };
  const new_failures = report.failures.map(({ kind }) => kind);
  if (before.report.passed !== report.passed) {
    return report.passed ? { ...entry, kind: 'fixed' } : { ...entry, kind: 'regression', new_failures };
  }
  if (!report.passed) return { ...entry, kind: 'still_failing', new_failures };
  const fields = DRIFTING.filter((field) => said(before.report, field) !== said(report, field));
  return fields.length > 0 ? { ...entry, kind: 'drift', fields } : { ...entry, kind: 'unchanged' };
};

export const compareItems = (items: readonly Item[], baseline: readonly Item[]): DiffEntry[] => {
  const before = new Map(baseline.map((item) => [keyOf(item), item]));
  const after = new Map(items.map((item) => [keyOf(item), item]));
  return [...new Map([...after, ...before]).keys()].flatMap(
    (key) => entryOf(before.get(key), after.get(key)) ?? [],
  );
};

/** Whether whoever releases by it should not. */
export const isBlocking = ({ kind, passed }: DiffEntry): boolean =>
  kind === 'regression' ||
  kind === 'missing_from_new' ||
  kind === 'drift' ||
  (kind === 'newly_added' && passed === false);

/** A row of results: an item, what became of it, and what it was. */
export type Result = {
  key: string;
  item: Item;
  entry: DiffEntry | undefined;
  before: Item | undefined;
  /** It is in the baseline alone. */
  isGone: boolean;
};

const severityOf = ({ item, entry }: Result): number => {
  if (entry) {
    const rank = KINDS.findIndex((kind: Kind) => kind === entry.kind);
    return rank === -1 ? KINDS.length : rank;
  }
  return item.report.passed ? 1 : 0;
};

/** The worst first. */
export const resultsOf = (
  items: readonly Item[],
  entries: readonly DiffEntry[] = [],
  baseline: readonly Item[] = [],
): Result[] => {
  const byKey = new Map(entries.map((entry) => [keyOf(entry), entry]));
  const before = new Map(baseline.map((item) => [keyOf(item), item]));
  const results = items.map((item): Result => {
    const key = keyOf(item);
    return { key, item, entry: byKey.get(key), before: before.get(key), isGone: false };
  });
  const known = new Set(results.map(({ key }) => key));
  const gone = [...before].flatMap(([key, item]): Result[] =>
    known.has(key) || !byKey.has(key)
      ? []
      : [{ key, item, entry: byKey.get(key), before: item, isGone: true }],
  );
  const severities = new Map([...results, ...gone].map((result) => [result, severityOf(result)]));
  return [...results, ...gone].sort((a, b) => (severities.get(a) ?? 0) - (severities.get(b) ?? 0));
};

export type Totals = {
  items: number;
  passed: number;
  tokens: { input: number; output: number };
  durationMs: number;
  /** Undefined: no item says what it cost. */
  cost: number | undefined;
  failures: ReadonlyMap<string, number>;
};

export const totalsOf = (items: readonly Item[]): Totals => {
  const failures = new Map<string, number>();
  let [passed, input, output, durationMs] = [0, 0, 0, 0];
  let cost: number | undefined;
  for (const { report } of items) {
    passed += report.passed ? 1 : 0;
    input += report.total_input_tokens;
    output += report.total_output_tokens;
    durationMs += report.session_duration_ms;
    cost = addUsd(cost, report.cost_usd);
    for (const { kind } of report.failures) failures.set(kind, (failures.get(kind) ?? 0) + 1);
  }
  return {
    items: items.length,
    passed,
    tokens: { input, output },
    durationMs,
    cost,
    failures: new Map([...failures].sort(([, a], [, b]) => b - a)),
  };
};

export type ToolUse = { agent: string; tool: string; calls: number; failures: number; fixtures: number };

/** Of all items, by who called what. */
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
