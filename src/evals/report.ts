import { z } from 'zod';
import type { EvalFailure, EvalReport } from '../schema/eval-report.ts';
import { describeIssues, phrases } from '../schema/phrases.ts';

/**
 * Reports as JSON lines (evals-and-traces.md 8.2): the output of a replay on the command line, and the input of
 * comparisons of report files.
 *
 * Guarantees: reports are read back as they were written. An invalid line becomes an issue with its number, and does
 * not affect other lines.
 */

/** A line of a report of any program: it may contain unknown kinds of failures. */
export type ReportLine = Omit<EvalReport, 'failures'> & {
  failures: readonly (EvalFailure | { kind: string })[];
};

export type LineIssue = { line: number; message: string };

const whole = z
  .number()
  .nullish()
  .transform((given) => given ?? 0);

const Line = z.looseObject({
  fixture_id: z.string(),
  passed: z.boolean(),
  failures: z
    .array(z.looseObject({ kind: z.string() }))
    .nullish()
    .transform((given) => given ?? []),
  final_text: z
    .string()
    .nullish()
    .transform((given) => given ?? ''),
  inference_count: whole,
  tool_count: whole,
  tool_failures: whole,
  total_input_tokens: whole,
  total_output_tokens: whole,
  total_tokens: whole,
  session_duration_ms: whole,
  elapsed_ms: whole,
});

export const writeReports = (reports: Iterable<EvalReport>): string =>
  Array.from(reports, (report) => `${JSON.stringify(report)}\n`).join('');

export const readReports = (text: string): { reports: ReportLine[]; issues: LineIssue[] } => {
  const reports: ReportLine[] = [];
  const issues: LineIssue[] = [];
  for (const [index, each] of text.split(/\r?\n/).entries()) {
    if (each.trim() === '') continue;
    const read = readLine(each);
    if (typeof read === 'string') issues.push({ line: index + 1, message: read });
    else reports.push(read);
  }
  return { reports, issues };
};

/** Returns the report, or the reason why it cannot be read. */
const readLine = (text: string): ReportLine | string => {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return 'not JSON';
  }
  const parsed = Line.safeParse(given, phrases);
  return parsed.success ? parsed.data : describeIssues(parsed.error);
};
