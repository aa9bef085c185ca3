import t from 'tap';
import { findFailures, type Observed } from '../../src/evals/score.ts';
import { Expectation } from '../../src/schema/dataset.ts';

/** Unmet expectations of a replay: evals-and-traces.md 3.4, 5.5. */

const seen = (more: Partial<Observed> = {}): Observed => ({
  final_text: 'Hello there',
  calls: [],
  total_tokens: 10,
  duration_ms: 10,
  error_type: undefined,
  runtime_failure: undefined,
  judge_score: undefined,
  structured_output: undefined,
  ...more,
});

const call = (name: string, args: object = {}, result: string | undefined = undefined) => ({
  name,
  arguments: { ...args },
  result,
});

const score = (expect: object, observed: Partial<Observed> = {}) =>
  findFailures(Expectation.parse(expect), seen(observed));

t.test('reports failures in their fixed order', async (t) => {
  const failure = { kind: 'runtime_error' as const, message: 'broken' };
  const failures = await score(
    {
      scorers: [{ kind: 'equals', text: 'other' }],
      min_judge_score: 0.5,
      expected_error_type: 'timeout',
      max_duration_ms: 1,
      max_tokens_total: 1,
      required_tool_calls: [{ name: 'b' }],
      forbidden_tools: ['a'],
      tool_sequence: ['b'],
      final_answer_excludes: ['Hello'],
      final_answer_contains: ['bye', 'farewell'],
    },
    { calls: [call('a')], judge_score: 0.4, error_type: 'overloaded', runtime_failure: failure },
  );
  t.strictSame(failures, [
    { kind: 'answer_missing_phrase', phrase: 'bye' },
    { kind: 'answer_missing_phrase', phrase: 'farewell' },
    { kind: 'answer_contains_excluded_phrase', phrase: 'Hello' },
    { kind: 'tool_sequence_mismatch', expected: ['b'], actual: ['a'] },
    { kind: 'forbidden_tool_used', tool: 'a' },
    { kind: 'required_tool_call_not_satisfied', name: 'b', actual_matches: 0 },
    { kind: 'token_budget_exceeded', budget: 1, actual: 10 },
    { kind: 'duration_exceeded', budget_ms: 1, actual_ms: 10 },
    { kind: 'error_type_mismatch', expected: 'timeout', actual: 'overloaded' },
    { kind: 'replay_runtime_failure', failure },
    { kind: 'judge_below_threshold', threshold: 0.5, actual: 0.4 },
    { kind: 'scorer_failed', scorer: 'equals', message: 'the answer is another text' },
  ]);
});

t.test('expects nothing from an empty expectation, and accepts values at the limits', async (t) => {
  t.strictSame(await score({}), []);
  t.strictSame(
    await score({ max_tokens_total: 10, max_duration_ms: 10, min_judge_score: 0.5 }, { judge_score: 0.5 }),
    [],
  );
});

t.test('compares a sequence of tools exactly, or in order with gaps', async (t) => {
  const calls = ['a', 'x', 'b'].map((name) => call(name));
  t.equal((await score({ tool_sequence: ['a', 'b'] }, { calls })).length, 1);
  t.strictSame(await score({ tool_sequence: ['a', 'x', 'b'] }, { calls }), []);
  const gaps = (...tool_sequence: string[]) =>
    score({ tool_sequence, tool_sequence_mode: 'ordered_subseq' }, { calls });
  t.strictSame(await gaps('a', 'b'), []);
  t.match(await gaps('b', 'a'), [{ mode: 'ordered_subseq' }]);
});

t.test('counts required calls by the content of their arguments and results', async (t) => {
  const calls = [
    call('search', { q: { text: 'x', n: 1 } }, 'found'),
    call('search', { q: { text: 'y' } }),
    call('other', { q: { text: 'x' } }),
  ];
  const required = (matcher: object) =>
    score({ required_tool_calls: [{ name: 'search', ...matcher }] }, { calls });
  t.strictSame(await required({}), []);
  t.strictSame(await required({ args_subset: { q: { text: 'x' } }, count: { op: 'exactly', n: 1 } }), []);
  t.strictSame(await required({ count: { op: 'at_most', n: 2 } }), []);
  t.match(await required({ count: { op: 'at_least', n: 3 } }), [
    { expected_count: { op: 'at_least', n: 3 }, actual_matches: 2 },
  ]);
  t.match(await required({ count: { op: 'exactly', n: 0 } }), [{ actual_matches: 2 }]);
  t.match(await required({ result_subset: 'lost' }), [{ actual_matches: 0, result_filter_set: true }]);
  t.strictSame(await required({ result_subset: 'found', count: { op: 'exactly', n: 1 } }), []);
});

t.test('reports an expected error that did not occur', async (t) => {
  t.strictSame(await score({ expected_error_type: 'timeout' }, { error_type: 'timeout' }), []);
  t.strictSame(await score({ expected_error_type: 'timeout' }), [
    { kind: 'expected_error_missing', expected: 'timeout' },
  ]);
});

t.test('applies scorers to the whole text', async (t) => {
  const scored = (scorer: object, final_text: string) => score({ scorers: [scorer] }, { final_text });
  t.strictSame(await scored({ kind: 'equals', text: 'YES', ignore_case: true }, ' yes\n'), []);
  t.equal((await scored({ kind: 'equals', text: 'yes' }, 'yes ')).length, 1);
  t.strictSame(await scored({ kind: 'matches', pattern: '^\\d{4}-\\d\\d$' }, '2026-11'), []);
  t.equal((await scored({ kind: 'matches', pattern: '^\\d+$' }, 'x1')).length, 1);
  t.match(await scored({ kind: 'matches', pattern: '(' }, 'x'), [{ message: /pattern cannot be used/ }]);
  t.strictSame(await scored({ kind: 'similar', text: 'kitten', min_score: 0.5 }, 'sitting'), []);
  t.match(await scored({ kind: 'similar', text: 'kitten', min_score: 0.9 }, 'sitting'), [
    { scorer: 'similar', score: 1 - 3 / 7 },
  ]);
  t.strictSame(await scored({ kind: 'similar', text: '', min_score: 1 }, ''), []);
});

t.test('parses JSON in a fence, and checks it against a schema and a subset', async (t) => {
  const schema = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } };
  const scored = (final_text: string, more: object) =>
    score({ scorers: [{ kind: 'json', ...more }] }, { final_text });
  t.strictSame(await scored('```json\n{"a": 1, "b": [2]}\n```', { schema, subset: { b: [2] } }), []);
  t.match(await scored('{"a": "1"}', { schema }), [{ scorer: 'json', message: /'a'/ }]);
  t.match(await scored('{"a": 1}', { subset: { a: 2 } }), [{ message: /does not contain/ }]);
  t.match(await scored('a: 1', {}), [{ message: 'the answer is not JSON' }]);
  t.match(await scored('{}', { schema: { $ref: '#/nowhere' } }), [{ message: /schema cannot be used/ }]);
});

t.test('checks a structured result against a subset and a schema', async (t) => {
  const structured_output = { team: 'billing', tags: ['a', 'b'] };
  const of = (structured: object, observed: Partial<Observed> = { structured_output }) =>
    score({ structured }, observed);
  t.strictSame(await of({}), []);
  t.strictSame(await of({ matches: { team: 'billing' }, schema: { required: ['tags'] } }), []);
  t.strictSame(await of({}, {}), [
    { kind: 'structured_mismatch', message: 'the run has no structured result' },
  ]);
  t.strictSame(await of({ matches: { team: 'tech' }, schema: { properties: { tags: { maxItems: 1 } } } }), [
    { kind: 'structured_mismatch', message: 'the result does not contain {"team":"tech"}' },
    { kind: 'structured_mismatch', message: '/tags: must NOT have more than 1 items' },
  ]);
  t.match(await of({ schema: { type: 'text' } }), [
    { kind: 'structured_mismatch', message: /^the expected schema \/type: must be one of/ },
  ]);
  t.strictSame(await of({ schema: { type: 'null' } }, { structured_output: null }), []);
});
