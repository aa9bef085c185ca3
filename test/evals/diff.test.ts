import assert from 'node:assert/strict';
import t from 'tap';
import { aggregateItems } from '../../src/evals/aggregate.ts';
import { checkComparable, comparedRun, createDiff } from '../../src/evals/diff.ts';
import { compareItems } from '../../src/evals/keys.ts';
import { isBlocking, keyOf, keyText } from '../../src/schema/eval-diff.ts';
import type { EvalReport } from '../../src/schema/eval-report.ts';
import type { EvalItem, EvalRun } from '../../src/schema/eval-run.ts';
import fc from '../random.ts';

/** Comparison of two runs, and aggregation of samples: evals-and-traces.md 6.4, 6.5. */

const item = (
  fixture_id: string,
  more: Partial<EvalReport> = {},
  place: Partial<EvalItem> = {},
): EvalItem => ({
  fixture_id,
  ...place,
  report: {
    fixture_id,
    passed: true,
    failures: [],
    final_text: 'hi',
    inference_count: 1,
    tool_count: 0,
    tool_failures: 0,
    total_input_tokens: 1,
    total_output_tokens: 1,
    total_tokens: 2,
    session_duration_ms: 5,
    elapsed_ms: 6,
    ...more,
  },
});

const failed = (fixture_id: string) =>
  item(fixture_id, { passed: false, failures: [{ kind: 'forbidden_tool_used', tool: 'x' }] });

const tool = (call_count: number, total_duration_ms: number) => ({
  tool_calls_by_agent: [{ agent_id: 'a', tool: 't', call_count, failure_count: 0, total_duration_ms }],
});

t.test('reports each kind of difference', async (t) => {
  const before = [item('same'), item('drifts'), item('worse'), failed('better'), failed('bad'), item('gone')];
  const after = [
    item('same', { session_duration_ms: 99, elapsed_ms: 99, judge_reasoning: 'else' }),
    item('drifts', { final_text: 'ho', judge_score: 1, total_tokens: 3, cost_usd: 1 }),
    failed('worse'),
    item('better'),
    failed('bad'),
    failed('new'),
  ];
  const { entries } = createDiff(after, before);
  t.strictSame(entries, [
    { kind: 'still_failing', fixture_id: 'bad', new_failures: ['forbidden_tool_used'] },
    { kind: 'fixed', fixture_id: 'better' },
    {
      kind: 'drift',
      fixture_id: 'drifts',
      fields: ['final_text', 'total_tokens', 'cost_usd', 'judge_score'],
    },
    { kind: 'missing_from_new', fixture_id: 'gone' },
    { kind: 'newly_added', fixture_id: 'new', passed: false },
    { kind: 'unchanged', fixture_id: 'same' },
    { kind: 'regression', fixture_id: 'worse', new_failures: ['forbidden_tool_used'] },
  ]);
  t.strictSame(
    entries.filter(isBlocking).map(({ fixture_id }) => fixture_id),
    ['drifts', 'gone', 'new', 'worse'],
  );
});

t.test('compares the counts of tools, but not their durations', async (t) => {
  t.match(createDiff([item('f', tool(1, 5))], [item('f', tool(1, 900))]).entries, [{ kind: 'unchanged' }]);
  t.match(createDiff([item('f', tool(2, 5))], [item('f', tool(1, 5))]).entries, [
    { kind: 'drift', fields: ['tool_calls_by_agent'] },
  ]);
});

t.test('sorts absent values before present ones', async (t) => {
  const cell = (model_id: string, more = {}) => ({ cell: { model_id, ...more } });
  const items = [
    item('f', {}, { ...cell('m'), sample_index: 1 }),
    item('f', {}, cell('m')),
    item('f', {}, cell('m', { variant_id: 'v' })),
    item('f'),
    item('f', {}, { ...cell('m'), sample_index: 0 }),
    item('e', {}, cell('z')),
  ];
  t.strictSame(
    createDiff(items, []).entries.map(({ fixture_id, cell: at, sample_index }) => [
      fixture_id,
      at?.model_id,
      at?.variant_id,
      sample_index,
    ]),
    [
      ['e', 'z', undefined, undefined],
      ['f', undefined, undefined, undefined],
      ['f', 'm', undefined, undefined],
      ['f', 'm', undefined, 0],
      ['f', 'm', undefined, 1],
      ['f', 'm', 'v', undefined],
    ],
  );
});

const anyPlace = fc.record({
  fixture_id: fc.constantFrom('f', 'g', 'h'),
  cell: fc.constantFrom(undefined, { model_id: 'm' }, { model_id: 'n', variant_id: 'v' }),
  sample_index: fc.constantFrom(undefined, 0, 1),
});

const anyItems = fc.uniqueArray(
  fc
    .tuple(anyPlace, fc.boolean(), fc.constantFrom('a', 'b'))
    .map(([place, passed, final_text]) => item(place.fixture_id, { passed, final_text }, keyOf(place))),
  { selector: keyText, maxLength: 18 },
);

t.test('lists one entry per key in order, and no difference between equal runs', async () => {
  fc.assert(
    fc.property(anyItems, anyItems, (one, other) => {
      const { entries } = createDiff(one, other);
      const keys = entries.map(keyText);
      assert.deepEqual(new Set(keys), new Set([...one, ...other].map(keyText)));
      assert.equal(new Set(keys).size, keys.length);
      assert.deepEqual(entries, entries.toSorted(compareItems));
      for (const { kind } of createDiff(one, one).entries) assert.match(kind, /^(unchanged|still_failing)$/);
      const swapped = new Map(createDiff(other, one).entries.map((entry) => [keyText(entry), entry.kind]));
      for (const entry of entries) assert.equal(swapped.get(keyText(entry)), MIRRORED[entry.kind]);
    }),
  );
});

const MIRRORED = {
  unchanged: 'unchanged',
  drift: 'drift',
  regression: 'fixed',
  fixed: 'regression',
  still_failing: 'still_failing',
  missing_from_new: 'newly_added',
  newly_added: 'missing_from_new',
} as const;

const run = (items: EvalItem[], more: Partial<EvalRun> = {}): EvalRun => ({
  id: 'r',
  dataset_id: 'D',
  dataset_revision: 1,
  execution_mode: 'live',
  items,
  started_at_secs: 1,
  ended_at_secs: 2,
  ...more,
});

t.test('rejects runs that cannot be compared', async (t) => {
  const samples = (...numbers: number[]) =>
    numbers.map((sample_index) => item('f', {}, { cell: { model_id: 'm' }, sample_index }));
  const uneven = [...samples(0, 1), item('g', {}, { cell: { model_id: 'm' } })];
  const rows: [one: EvalRun, other: EvalRun, text: string][] = [
    [run([]), run([], { dataset_id: '_adhoc', dataset_revision: 2 }), 'ad-hoc'],
    [run([]), run([], { dataset_id: 'E', dataset_revision: 2 }), 'across datasets'],
    [run([]), run([], { dataset_revision: 2, execution_mode: 'scripted' }), 'dataset revisions'],
    [run([]), run([], { execution_mode: 'scripted' }), 'execution modes'],
    [run(samples(0, 1)), run(samples(0, 1, 2)), 'different sample counts'],
    [run(samples(0, 2)), run(samples(0, 1)), 'non-contiguous samples'],
    [run(uneven), run(samples(0, 1)), 'inconsistent sample counts'],
    [run([item('f'), item('f')]), run([item('f')]), 'duplicate eval-run item key'],
    [run([item('f')]), run([item('f'), item('f')]), 'duplicate eval-run item key'],
  ];
  for (const [one, other, text] of rows) {
    t.throws(() => checkComparable(comparedRun(one), comparedRun(other)), new RegExp(text), text);
  }
  t.doesNotThrow(() => checkComparable(comparedRun(run(samples(1, 0))), comparedRun(run(samples(0, 1)))));
});

t.test('aggregates the samples of a fixture per cell', async (t) => {
  const of = (fixture_id: string, model_id: string, ...passed: boolean[]) =>
    passed.map((each, sample_index) =>
      item(fixture_id, { passed: each }, { cell: { model_id }, sample_index }),
    );
  const items = [
    ...of('g', 'm', true, true),
    ...of('f', 'n', false, false),
    ...of('f', 'm', true, false, true),
  ];
  t.strictSame(aggregateItems(items), [
    {
      fixture_id: 'f',
      cell: { model_id: 'm' },
      samples: 3,
      passed: 2,
      pass_rate: 2 / 3,
      pass_at_k: true,
      pass_pow_k: false,
    },
    {
      fixture_id: 'f',
      cell: { model_id: 'n' },
      samples: 2,
      passed: 0,
      pass_rate: 0,
      pass_at_k: false,
      pass_pow_k: false,
    },
    {
      fixture_id: 'g',
      cell: { model_id: 'm' },
      samples: 2,
      passed: 2,
      pass_rate: 1,
      pass_at_k: true,
      pass_pow_k: true,
    },
  ]);
  t.strictSame(aggregateItems([item('f')]), [
    { fixture_id: 'f', samples: 1, passed: 1, pass_rate: 1, pass_at_k: true, pass_pow_k: true },
  ]);
});
