import t from 'tap';
import { readReports, writeReports } from '../../src/evals/report.ts';
import type { EvalReport } from '../../src/schema/eval-report.ts';

/** Reports as lines: evals-and-traces.md 8.2, check 74. */

const report = (more: Partial<EvalReport> = {}): EvalReport => ({
  fixture_id: 'f',
  passed: true,
  failures: [],
  final_text: 'line one\nline two \u2028 😀',
  inference_count: 1,
  tool_count: 0,
  tool_failures: 0,
  total_input_tokens: 1,
  total_output_tokens: 2,
  total_tokens: 3,
  session_duration_ms: 4,
  elapsed_ms: 5,
  ...more,
});

t.test('reads reports back unchanged', async (t) => {
  const reports = [
    report(),
    report({
      passed: false,
      failures: [{ kind: 'replay_runtime_failure', failure: { kind: 'script_exhausted', extra_calls: 2 } }],
      runtime_failure: { kind: 'script_exhausted', extra_calls: 2 },
      tool_calls_by_agent: [
        { agent_id: 'a', tool: 't', call_count: 1, failure_count: 0, total_duration_ms: 9 },
      ],
      error_type: 'timeout',
      inference_error_count: 1,
      cost_usd: 0.25,
      revision_count: 1,
      judge_score: 0.5,
      judge_reasoning: 'so so',
    }),
  ];
  const text = writeReports(reports);
  t.equal(text.split('\n').length, 3);
  t.strictSame(readReports(text), { reports, issues: [] });
  t.strictSame(readReports(text.replaceAll('\n', '\r\n')), { reports, issues: [] });
});

t.test('reports an incomplete line with its number, and reads the others', async (t) => {
  const { elapsed_ms: _, ...older } = report();
  const { fixture_id: _id, ...nameless } = report();
  const lines = [
    '',
    JSON.stringify(older),
    JSON.stringify(nameless),
    '{',
    '  ',
    '{"fixture_id":"g","passed":false}',
  ];
  const { reports, issues } = readReports(lines.join('\n'));
  t.match(reports, [
    { fixture_id: 'f', elapsed_ms: 0 },
    { fixture_id: 'g', passed: false, failures: [], final_text: '', total_tokens: 0 },
  ]);
  t.match(issues, [
    { line: 3, message: /fixture_id/ },
    { line: 4, message: 'not JSON' },
  ]);
});

t.test('reads failures of an unknown kind', async (t) => {
  const failures = [{ kind: 'from_the_future', level: 9 }];
  const { reports } = readReports(JSON.stringify({ fixture_id: 'f', passed: false, failures }));
  t.strictSame(reports[0]?.failures, failures);
});
