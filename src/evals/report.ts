import { z } from 'zod';
import type { EvalFailure, EvalReport } from '../schema/eval-report.ts';
import { describeIssues, phrases } from '../schema/phrases.ts';

/**
 * Reports as lines of text (evals-and-traces.md 8.2): what a replay on the command line writes, and what is compared
 * by whoever has the files.
 *
 * Guarantees: what is written is read back as it was. A line that cannot be read is an issue with its number, and
 * takes nothing else with it.
 */

/** A line of a report of this or of another program: kinds of failures may be unknown. */
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

/** Or why it cannot be read. */
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
