import canonicalize from 'canonicalize';
import type { DiffEntry, EvalCell } from './eval-run.ts';

/**
 * The rules by which two sets of eval results are compared (evals-and-traces.md 6.5). The service and its console use
 * this module, so that both reach the same result.
 */

/** The key of a result within a run. */
export type ResultKey = {
  fixture_id: string;
  cell?: { model_id: string; agent_id?: string | undefined; variant_id?: string | undefined } | undefined;
  sample_index?: number | undefined;
};

const COMPARED = [
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
] as const;

type Field = (typeof COMPARED)[number];

type Tally = { agent_id: string; tool: string; call_count: number; failure_count: number };

type ComparedReport = {
  passed: boolean;
  failures: readonly { kind: string }[];
  tool_calls_by_agent?: readonly Tally[] | undefined;
} & { [field in Exclude<Field, 'tool_calls_by_agent'>]?: unknown };

export type ComparedResult = ResultKey & { report: ComparedReport };

/** The parts of a key, from the most to the least significant. */
export const keyParts = ({ fixture_id, cell, sample_index }: ResultKey): (string | number | undefined)[] => [
  fixture_id,
  cell?.model_id,
  cell?.agent_id,
  cell?.variant_id,
  sample_index,
];

export const keyText = (key: ResultKey): string => JSON.stringify(keyParts(key).map((part) => part ?? null));

/** Omits `undefined`, as in the wire format. */
export const keyOf = ({
  fixture_id,
  cell,
  sample_index,
}: ResultKey): Pick<DiffEntry, 'fixture_id' | 'cell' | 'sample_index'> => ({
  fixture_id,
  ...(cell && { cell: cellOf(cell) }),
  ...(sample_index !== undefined && { sample_index }),
});

const cellOf = ({ model_id, agent_id, variant_id }: NonNullable<ResultKey['cell']>): EvalCell => ({
  model_id,
  ...(agent_id !== undefined && { agent_id }),
  ...(variant_id !== undefined && { variant_id }),
});

/** The difference between two results of one test case, one of which may be missing. */
export const compareResults = <Result extends ComparedResult>(
  before: Result | undefined,
  after: Result,
): DiffEntry => {
  const key = keyOf(after);
  const { report } = after;
  if (!before) return { kind: 'newly_added', ...key, passed: report.passed };
  const new_failures = report.failures.map(({ kind }) => kind);
  if (before.report.passed !== report.passed) {
    return report.passed ? { kind: 'fixed', ...key } : { kind: 'regression', ...key, new_failures };
  }
  if (!report.passed) return { kind: 'still_failing', ...key, new_failures };
  const fields = COMPARED.filter(
    (field) => comparedText(before.report, field) !== comparedText(report, field),
  );
  return fields.length > 0 ? { kind: 'drift', ...key, fields } : { kind: 'unchanged', ...key };
};

export const missingResult = (before: ResultKey): DiffEntry => ({
  kind: 'missing_from_new',
  ...keyOf(before),
});

/** An omitted field equals its default value. */
const comparedText = (report: ComparedReport, field: Field): string | undefined => {
  if (field === 'tool_calls_by_agent') {
    return JSON.stringify(
      (report.tool_calls_by_agent ?? []).map(({ agent_id, tool, call_count, failure_count }) => [
        agent_id,
        tool,
        call_count,
        failure_count,
      ]),
    );
  }
  const isCount = field === 'inference_error_count' || field === 'revision_count';
  return canonicalize(report[field] ?? (isCount ? 0 : undefined));
};

/** True for differences that should block a release. */
export const isBlocking = (entry: DiffEntry): boolean =>
  entry.kind === 'regression' ||
  entry.kind === 'missing_from_new' ||
  entry.kind === 'drift' ||
  (entry.kind === 'newly_added' && !entry.passed);
