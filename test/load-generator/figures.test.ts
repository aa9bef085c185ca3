import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { compareResults, incomparable, losses } from '../../bench/compare.ts';
import { createGcTrace } from '../../bench/gc-trace.ts';
import { measureGrowth } from '../../bench/growing.ts';
import { groupOf, moduleAt } from '../../bench/modules.ts';
import { helpText, parseOptions } from '../../bench/options.ts';
import type { Outcome, Settings } from '../../bench/result-file.ts';
import { interleaved, ratioInterval } from '../../bench/rounds.ts';
import { createRow, joined, type Measured, meetsAim } from '../../bench/row.ts';
import { searchMost } from '../../bench/search.ts';
import { formatOutcome, markdownTable } from '../../bench/table.ts';
import { randomFrom } from '../../src/load-generator/random.ts';

/** How the benchmarks evaluate the measured figures, and parse their options. */

const measured = (values: readonly number[], more: Partial<Measured> = {}): Measured => ({
  metric: 'a stream',
  unit: 'ms',
  rounds: values.map((value) => ({ value })),
  ...more,
});

const outcome = (...rows: Measured[]): Outcome => ({
  name: 'streams',
  title: 'streams',
  rows: rows.map(createRow),
  notes: [],
});

const verdictOf = (before: Measured, now: Measured) =>
  compareResults([outcome(before)], [outcome(now)]).map(({ verdict }) => verdict);

t.test('a row has lost if it is a tenth worse and its rounds do not overlap', (t) => {
  const before = measured([1, 1.05, 1.1]);
  const verdicts: [readonly number[], string][] = [
    [[1.2, 1.21, 1.3], 'lost'],
    [[1.06, 1.21, 1.3], 'unclear'],
    [[1.11, 1.12, 1.13], 'same'],
    [[0.7, 0.8, 0.9], 'gained'],
    [[1.2, 1.3], 'unclear'],
  ];
  for (const [values, verdict] of verdicts) t.strictSame(verdictOf(before, measured(values)), [verdict]);
  t.end();
});

t.test('a lower rate is a loss, a higher one a gain', (t) => {
  const rate = (values: readonly number[]) => measured(values, { better: 'higher', unit: 'streams/s' });
  t.strictSame(verdictOf(rate([100, 101, 102]), rate([80, 81, 82])), ['lost']);
  t.strictSame(verdictOf(rate([100, 101, 102]), rate([120, 121, 122])), ['gained']);
  t.end();
});

t.test('a row whose server did not have its core to itself is not counted or compared', (t) => {
  const starved = measured([], {
    aim: { of: 'value', most: 5 },
    baseline: 'bare loop',
    rounds: [0.95, 0.95, 0.95].map((share) => ({
      value: 9,
      baseline: 3,
      shares: { Troupe: share, 'bare loop': 0.65 },
    })),
  });
  const row = createRow(starved);
  t.match(row, { counted: false, reason: 'bare loop had 65 % of its core', ratio: { median: 3 } });
  t.equal(meetsAim(row), undefined);
  t.match(formatOutcome(outcome(starved)), /\(!\) a stream .*at most 5\n/);
  const well = { ...starved, rounds: [1, 2, 3].map(() => ({ value: 1, baseline: 3 })) };
  t.strictSame(verdictOf(well, starved), ['does not count']);
  t.strictSame(verdictOf(starved, well), ['does not count']);
  t.end();
});

t.test('a row has its median, its range, the ratio of each round and whether it meets its goal', (t) => {
  const rounds = [
    { value: 2, baseline: 1, rates: [500, 1000] as const, p99: 7 },
    { value: 3, baseline: 2, rates: [400, 900] as const, p99: 8 },
    { value: 4, baseline: 4, rates: [300, 800] as const, p99: 9 },
  ];
  const row = createRow(measured([], { baseline: 'bare', aim: { of: 'ratio', most: 1.5 }, rounds }));
  t.match(row, {
    value: { median: 3, min: 2, max: 4 },
    samples: [2, 3, 4],
    baseline: { name: 'bare', value: { median: 2, min: 1, max: 4 } },
    ratio: { median: 1.5, min: 1, max: 2 },
    rates: { troupe: 400, baseline: 900 },
    p99: 8,
    counted: true,
  });
  t.equal(meetsAim(row), true);
  t.equal(meetsAim({ ...row, aim: { of: 'p99', most: 7 } }), false);
  t.equal(meetsAim({ ...row, aim: { of: 'value', least: 3 } }), true);
  t.equal(
    markdownTable([{ name: 'x', title: 'x', rows: [row], notes: [] }]).split('\n')[2],
    '| a stream | 3 ms (400/s) | 2 (900/s), bare | 1.5 (1 to 2) | ratio at most 1.5, met |',
  );
  t.end();
});

t.test('the range of a ratio is that of the confidence intervals, where rounds have them', (t) => {
  const rounds = [{ value: 3, baseline: 2, interval: [1.4, 1.7] as const }];
  t.match(createRow(measured([], { baseline: 'bare', rounds })), {
    ratio: { median: 1.5, min: 1.4, max: 1.7 },
  });
  t.end();
});

t.test('a confidence interval contains the ratio, and narrows with more pairs', (t) => {
  const random = randomFrom(7);
  const pairs = Array.from({ length: 400 }, () => {
    const host = 1 + random();
    return { value: 1.2 * host * (1 + random() / 10), baseline: host * (1 + random() / 10) };
  });
  const intervalOf = (count: number) => {
    const some = pairs.slice(0, count);
    return ratioInterval(
      some.map(({ value }) => value),
      some.map(({ baseline }) => baseline),
    );
  };
  const [few, many] = [intervalOf(20), intervalOf(400)];
  for (const [low, high] of [few, many]) t.ok(low < 1.2 && 1.2 < high, `${low} to ${high}`);
  t.ok(many[1] - many[0] < (few[1] - few[0]) / 2);
  t.strictSame(intervalOf(20), few, 'the same pairs have the same interval');
  t.end();
});

t.test('measures each variant once in a round, in an order that varies with a random source', async (t) => {
  const orderOf = async (random?: () => number): Promise<string> => {
    let order = '';
    const note = (name: string) => async () => {
      order += name;
      return name;
    };
    const values = await interleaved(6, { a: note('a'), b: note('b'), c: note('c') }, random);
    t.strictSame(values, { a: Array(6).fill('a'), b: Array(6).fill('b'), c: Array(6).fill('c') });
    return order;
  };
  t.equal(await orderOf(), 'abc'.repeat(6));
  const rounds = (await orderOf(randomFrom(1))).match(/.{3}/g) ?? [];
  t.ok(rounds.every((round) => [...round].sort().join('') === 'abc'));
  t.ok(new Set(rounds).size > 1);
});

t.test('joins the rounds of a row by its name and that of its baseline', (t) => {
  const one = [measured([1]), measured([2], { baseline: 'bare' })];
  const two = [measured([3], { baseline: 'bare' }), measured([4]), measured([5], { metric: 'new' })];
  t.strictSame(
    joined(one, two).map(({ rounds }) => rounds.map(({ value }) => value)),
    [[1, 4], [2, 3], [5]],
  );
  t.end();
});

t.test('reports rows that only one of two results has, and counts them as no loss', (t) => {
  const comparisons = compareResults(
    [outcome(measured([1, 1, 1]))],
    [outcome(measured([9, 9, 9], { unit: 's' }))],
  );
  t.strictSame(
    comparisons.map(({ verdict }) => verdict),
    ['not in both', 'not in both'],
  );
  t.strictSame(losses(comparisons), []);
  t.end();
});

t.test('results of two machines, or of two kinds of run, are not compared', (t) => {
  const machine = { cpu: 'x', cores: 2, memory_gib: 4, node: 'v20', kernel: 'a', pinned: true };
  const settings: Settings = { short: false, rounds: null, duration: null, open_runs: 1000 };
  const before = { machine, settings };
  t.equal(incomparable(before, { machine: { ...machine, kernel: 'b' }, settings }), undefined);
  const now = { machine: { ...machine, cpu: 'y' }, settings: { ...settings, duration: 2 } };
  t.match(incomparable(before, now), /^machine: x, 2 cores.*now y, 2 cores.*; duration: null, now 2$/);
  t.end();
});

t.test('a search doubles a load until it fails, then bisects', async (t) => {
  const found = async (limit: number, halvings: number) => {
    const { best, steps } = await searchMost({
      attempt: async (load) => load,
      holds: (load) => load <= limit,
      from: 50,
      most: 800,
      halvings,
    });
    return { best: best?.load, steps };
  };
  t.strictSame(await found(340, 2), { best: 300, steps: [50, 100, 200, 400, 400, 300, 350, 350] });
  t.strictSame(await found(10, 1), { best: undefined, steps: [50, 50, 25, 25] });
  t.match(await found(10_000, 3), { best: 800 }, 'the search stops at its maximum');
});

t.test('parses garbage collections from output that is split anywhere', (t) => {
  const line = '[1:0x1] 79 ms: pause=3.0 gc=s reduce_memory=0 allocated=4074344 promoted=7\n';
  const found: unknown[] = [];
  const trace = createGcTrace(({ kind, figure }) =>
    found.push([kind, figure('allocated'), figure('promoted')]),
  );
  for (const part of ['other\n', line.slice(0, 30), line.slice(30), line.slice(0, 20)]) trace.hear(part);
  t.strictSame(found, [['s', 4_074_344, 7]]);
  t.end();
});

t.test(
  'the path comment above a position in a bundle names its source, which is grouped by package or folder',
  (t) => {
    const dir = t.testdir({
      'bundle.js':
        'start();\n// node_modules/@ai-sdk/openai/dist/index.mjs\na();\n// src/models/wire/sse.ts\nb();\nc();\n',
    });
    const url = pathToFileURL(join(dir, 'bundle.js')).href;
    const groups = [0, 2, 4, 5].map((line) => groupOf(moduleAt(url, line)));
    t.strictSame(groups.slice(1), ['@ai-sdk/openai', 'src/models', 'src/models']);
    t.equal(moduleAt(url, 0), url, 'a position before the first path comment has no source');
    t.equal(groupOf('node:internal/streams'), 'node');
    t.end();
  },
);

const readings = (values: readonly number[]) => values.map((value, index) => ({ hours: index / 10, value }));

t.test('a steady rise is growth, a plateau or a jump is not', (t) => {
  const allowance = { share: 0.1, least: 1 };
  const grows = (values: readonly number[]) => measureGrowth(readings(values), allowance).grows;
  t.equal(grows([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]), true);
  t.equal(
    grows([5, 10, 15, 20, 20, 20, 20, 20, 20, 20, 20, 20]),
    false,
    'a plateau after a rise is not growth',
  );
  t.equal(grows([10, 10, 10, 10, 10, 18, 11, 19, 14, 20, 15, 21]), false, 'a fluctuation is not growth');
  t.equal(grows([20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 40]), false, 'a single outlier is not growth');
  t.equal(
    grows([100, 100, 100, 100, 101, 101, 102, 102, 103, 103, 104, 104]),
    false,
    'growth within the tolerance is accepted',
  );
  t.equal(grows([10, 20, 30]), false, 'three values are not enough');
  t.match(measureGrowth(readings([1, 2, 3, 4, 5, 6]), allowance), { perHour: 10, from: 3, to: 6 });
  t.end();
});

t.test('parses options, and rejects each wrong one with the allowed values', (t) => {
  const parse = (...args: string[]) => parseOptions(args, ['store', 'streams']);
  t.match(parse(), { names: [], rounds: undefined, duration: undefined, openRuns: 1000, help: false });
  t.match(parse('streams', '--rounds', '5', '--duration', '0.5', '--against', 'x', '--open-runs', '7'), {
    names: ['streams'],
    rounds: 5,
    duration: 0.5,
    against: 'x',
    openRuns: 7,
  });
  const wrong: [string[], RegExp][] = [
    [['strems'], /unknown benchmark 'strems'; allowed: store, streams$/],
    [['--rouns', '3'], /Unknown option '--rouns'; allowed: --rounds, .*--help$/],
    [['--rounds', '0'], /--rounds: '0' is not a count/],
    [['--rounds', '2.5'], /--rounds: '2.5' is not a count/],
    [['--duration', '-1'], /--duration/],
    [['--duration', '10s'], /--duration: '10s' is not a time; allowed: seconds/],
    [['--from', 'x', '--json', 'y'], /--from uses an existing result/],
    [['--update-docs'], /--update-docs: name one benchmark/],
    [['streams', '--profile', 'x'], /--profile: name the benchmark provider/],
  ];
  for (const [args, message] of wrong) t.throws(() => parse(...args), { message }, args.join(' '));
  const help = helpText([{ name: 'store', title: 'store: commits' }]);
  for (const text of ['--rounds N', '--duration SECONDS', '--against', /store +commits/]) t.match(help, text);
  t.end();
});
