import { toUSVString } from 'node:util';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import t from 'tap';
import { renderJunit } from '../../../src/commands/eval/junit.ts';
import { renderMarkdown } from '../../../src/commands/eval/markdown.ts';
import { assess, type Thresholds } from '../../../src/commands/eval/outcome.ts';
import type { EvalFailure } from '../../../src/schema/eval-report.ts';
import type { DiffEntry, EvalItem, EvalRun } from '../../../src/schema/eval-run.ts';

/** The results of an eval run for a pipeline: evals-and-traces.md 6.5, 8.2. */

const itemOf = (
  fixture_id: string,
  failures: EvalFailure[] = [],
  more: Partial<EvalItem['report']> = {},
): EvalItem => ({
  fixture_id,
  report: {
    fixture_id,
    passed: failures.length === 0,
    failures,
    final_text: 'It is 4.',
    inference_count: 1,
    tool_count: 0,
    tool_failures: 0,
    total_input_tokens: 6,
    total_output_tokens: 4,
    total_tokens: 10,
    session_duration_ms: 400,
    elapsed_ms: 500,
    ...more,
  },
});

const runOf = (items: EvalItem[], more: Partial<EvalRun> = {}): EvalRun => ({
  id: '01KD8Q6V2M5T7Y9ZB3C4D5E6FG',
  dataset_id: 'sums',
  dataset_revision: 4,
  execution_mode: 'live',
  items,
  started_at_secs: 1_767_225_600,
  ended_at_secs: 1_767_225_603,
  ...more,
});

const missing: EvalFailure = { kind: 'answer_missing_phrase', phrase: 'four' };

const NOTHING_SAID: Thresholds = { minPassRate: undefined, maxCostUsd: undefined, allowed: [] };

const reasonsOf = (run: EvalRun, entries: DiffEntry[] | undefined, said: Partial<Thresholds> = {}) =>
  assess(run, entries && { entries }, { ...NOTHING_SAID, ...said }).reasons;

t.test('without a baseline all items must pass, or the given share', async (t) => {
  const run = runOf([itemOf('a'), itemOf('b'), itemOf('c', [missing])]);
  t.strictSame(reasonsOf(runOf([itemOf('a')]), undefined), []);
  t.strictSame(reasonsOf(run, undefined), ['2 of 3 passed, wanted is 100 %']);
  t.strictSame(reasonsOf(run, undefined, { minPassRate: 0.66 }), []);
  t.strictSame(reasonsOf(run, undefined, { minPassRate: 0.67 }), ['2 of 3 passed, wanted is 67 %']);
});

t.test('with a baseline, only items that failed there may fail, and no item may get worse', async (t) => {
  const run = runOf([itemOf('a'), itemOf('b', [missing])]);
  const of = (kind: DiffEntry['kind'], more: object = {}): DiffEntry =>
    ({ kind, fixture_id: 'b', ...more }) as DiffEntry;
  const still = of('still_failing', { new_failures: [] });
  t.strictSame(reasonsOf(run, [still, of('unchanged'), of('fixed')]), []);
  t.strictSame(reasonsOf(run, [still], { minPassRate: 1 }), ['1 of 2 passed, wanted is 100 %']);
  for (const entry of [
    of('regression', { new_failures: ['answer_missing_phrase'] }),
    of('missing_from_new'),
    of('drift', { fields: ['final_text'] }),
    of('newly_added', { passed: false }),
  ] as const) {
    t.strictSame(reasonsOf(run, [entry]), [`1 × ${entry.kind} compared with the baseline`]);
    const { kind } = entry;
    if (kind === 'unchanged' || kind === 'fixed' || kind === 'still_failing') continue;
    t.strictSame(reasonsOf(run, [entry], { allowed: [kind] }), []);
  }
  t.strictSame(reasonsOf(run, [of('newly_added', { passed: true })]), []);
});

t.test('a run that was cancelled or cost too much fails', async (t) => {
  const run = runOf([itemOf('a', [], { cost_usd: 0.25 }), itemOf('b', [], { cost_usd: 0.5 })]);
  t.strictSame(reasonsOf({ ...run, status: 'cancelled' }, undefined), ['the run is cancelled']);
  t.strictSame(reasonsOf(run, undefined, { maxCostUsd: 0.75 }), []);
  t.strictSame(reasonsOf(run, undefined, { maxCostUsd: 0.7 }), ['it cost $0.75, allowed is $0.70']);
  t.strictSame(reasonsOf(runOf([]), undefined), ['0 of 0 passed, wanted is 100 %']);
});

const HOSTILE = 'a<b>&"\' ]]> \u0000\u0008\ud800 😀 </testcase> {{x}}';

const parsed = (xml: string) =>
  new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '@', parseAttributeValue: false }).parse(xml);

t.test('JUnit XML has a case for each item, whatever models and people wrote', async (t) => {
  const run = runOf(
    [
      { ...itemOf('a'), cell: { model_id: 'fast', variant_id: 'v2' }, sample_index: 1 },
      itemOf(HOSTILE, [{ kind: 'answer_missing_phrase', phrase: HOSTILE }, missing], { final_text: HOSTILE }),
    ],
    { planned_item_count: 3, status: 'cancelled' },
  );
  const xml = renderJunit(run, assess(run, undefined, NOTHING_SAID));
  t.equal(XMLValidator.validate(xml), true);
  t.equal(toUSVString(xml), xml);
  for (const none of ['\u0000', '\u0008']) t.notOk(xml.includes(none));
  const { testsuite } = parsed(xml).testsuites;
  t.match(testsuite, { '@name': 'sums', '@tests': '3', '@failures': '1', '@errors': '1', '@time': '1.000' });
  t.match(testsuite.testcase, [
    { '@name': 'a · fast · v2 · #2', '@classname': 'a', '@time': '0.500' },
    {
      '@name': toUSVString(HOSTILE).replace('\u0000', '\ufffd').replace('\u0008', '\ufffd'),
      failure: { '@type': 'answer_missing_phrase', '@message': /does not contain/, '#text': /four/ },
    },
    { error: { '@message': /before this cell/ } },
  ]);
  t.notOk(Object.hasOwn(testsuite.testcase[0] ?? {}, 'failure'));
});

t.test('Markdown shows the verdict first, and text of models as plain text', async (t) => {
  const run = runOf([
    itemOf('a'),
    itemOf('b | c', [{ kind: 'answer_missing_phrase', phrase: '<img src=x> [a](b) @team `x` | y' }]),
  ]);
  const diff = {
    entries: [
      { kind: 'unchanged', fixture_id: 'a' },
      { kind: 'regression', fixture_id: 'b | c', new_failures: ['answer_missing_phrase'] },
    ] satisfies DiffEntry[],
  };
  const text = renderMarkdown(run, diff, assess(run, diff, NOTHING_SAID));
  t.match(text, /^## ❌ sums\n\n1 of 2 passed \(50 %\) · 20 tokens · revision 4 · run `01KD/);
  t.match(text, '- 1 × regression compared with the baseline');
  t.match(text, '### Failed (1)');
  t.match(text, '### Compared with the baseline (1)');
  t.match(text, '| b \\| c |');
  t.notMatch(text, /[^\\]<img|[^\\]\[a|[^\\]@team/);
  const fine = runOf([itemOf('a')]);
  t.match(renderMarkdown(fine, undefined, assess(fine, undefined, NOTHING_SAID)), /^## ✅ sums\n\n1 of 1/);
  const many = runOf(Array.from({ length: 60 }, (_, index) => itemOf(`f${index}`, [missing])));
  t.match(renderMarkdown(many, undefined, assess(many, undefined, NOTHING_SAID)), '… and 10 more');
});
