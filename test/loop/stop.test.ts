import t from 'tap';
import { stopConditionError } from '../../src/plugins/stop/conditions.ts';
import { createStopPolicies, type StopVerdict } from '../../src/plugins/stop/policies.ts';
import { type Inference, nextStats, startStats, stopStats } from '../../src/plugins/stop/stats.ts';
import { StopCondition } from '../../src/schema/stop-condition.ts';
import fc from '../random.ts';

const inference = (text: string, calls: string[] = [], tokens = 30): Inference => ({
  text,
  calls: calls.map((name) => ({ name })),
  usage: { prompt_tokens: tokens - 20, completion_tokens: 20, total_tokens: tokens },
});

type Turn = { inference: Inference | 'failed'; now: number };

/** The verdicts of the policies after each of these inferences, as the loop requests them. */
const verdictsOf = (
  spec: { max_rounds: number; stop_conditions?: StopCondition[] },
  turns: readonly Turn[],
): (StopVerdict | undefined)[] => {
  const policies = createStopPolicies(spec);
  let stats = startStats(0);
  return turns.map(({ inference, now }) => {
    stats = stopStats.schema.parse(JSON.parse(JSON.stringify(nextStats(stats, inference, policies.texts))));
    return inference === 'failed'
      ? policies.evaluateFailure(stats)
      : policies.evaluate(stats, inference, now);
  });
};

const after = (stop_conditions: StopCondition[], ...inferences: (Inference | 'failed')[]) =>
  verdictsOf(
    { max_rounds: 0, stop_conditions },
    inferences.map((one, index) => ({ inference: one, now: index * 1000 })),
  ).at(-1);

const stopped = (code: string): object => ({ type: 'stopped', value: { code } });

t.test('stops a run at the last allowed round if it calls tools, and ends it otherwise', async (t) => {
  const rounds = (count: number, last: Inference) =>
    verdictsOf({ max_rounds: 2 }, [
      ...Array.from({ length: count - 1 }, () => ({ inference: inference('', ['a']), now: 0 })),
      { inference: last, now: 0 },
    ]).at(-1);
  t.equal(rounds(1, inference('', ['a'])), undefined);
  t.same(rounds(2, inference('text', ['a'])), stopped('max_rounds'));
  t.same(rounds(2, inference('text')), { type: 'natural_end' });
});

t.test('treats a limit of 0 rounds as unlimited', async (t) => {
  t.equal(after([{ type: 'max_rounds', rounds: 0 }], inference('a', ['b'])), undefined);
});

t.test('checks the field max_rounds first, then the list in its order', async (t) => {
  const budget: StopCondition = { type: 'token_budget', max_total: 0 };
  const tool: StopCondition = { type: 'stop_on_tool', tool_name: 'a' };
  const first = (spec: { max_rounds: number; stop_conditions: StopCondition[] }) =>
    verdictsOf(spec, [{ inference: inference('x', ['a']), now: 0 }])[0];
  t.same(first({ max_rounds: 1, stop_conditions: [budget, tool] }), stopped('max_rounds'));
  t.same(first({ max_rounds: 9, stop_conditions: [budget, tool] }), stopped('token_budget'));
  t.same(first({ max_rounds: 9, stop_conditions: [tool, budget] }), stopped('stop_on_tool'));
});

t.test('stops when a token budget is exceeded, not when it is exactly used', async (t) => {
  t.equal(after([{ type: 'token_budget', max_total: 30 }], inference('a')), undefined);
  t.same(after([{ type: 'token_budget', max_total: 29 }], inference('a')), stopped('token_budget'));
  t.same(
    after([{ type: 'token_budget', max_total: 59 }], inference('a'), inference('b')),
    stopped('token_budget'),
  );
});

t.test('measures a timeout from the start of the run', async (t) => {
  const timeout: StopCondition = { type: 'timeout', seconds: 1 };
  const at = (now: number) =>
    verdictsOf({ max_rounds: 0, stop_conditions: [timeout] }, [{ inference: inference('a'), now }])[0];
  t.equal(at(1000), undefined);
  t.same(at(1001), stopped('timeout'));
});

t.test('stops after consecutive failures, and resets the count on success', async (t) => {
  const errors: StopCondition = { type: 'consecutive_errors', max: 2 };
  t.equal(after([errors], 'failed'), undefined);
  t.same(after([errors], 'failed', 'failed'), stopped('consecutive_errors'));
  t.equal(after([errors], 'failed', inference('a'), 'failed'), undefined);
});

t.test('stops a run after a failed inference for no other reason', async (t) => {
  const conditions: StopCondition[] = [
    { type: 'token_budget', max_total: 100 },
    { type: 'timeout', seconds: 0 },
    { type: 'max_rounds', rounds: 1 },
  ];
  t.equal(after(conditions, 'failed'), undefined);
});

t.test('matches a pattern anywhere in the text, and never matches an empty one', async (t) => {
  const match = (pattern: string, text: string) =>
    after([{ type: 'content_match', pattern }], inference(text));
  t.same(match('Scripted', 'so: Scripted response'), stopped('content_match'));
  t.same(match('^D(O|U)NE$', 'DUNE'), stopped('content_match'));
  t.equal(match('^DONE$', 'DONE.'), undefined);
  t.equal(match('', 'text'), undefined);
});

t.test('stops with a dedicated code if a pattern does not compile', async (t) => {
  const verdict = after([{ type: 'content_match', pattern: '(' }], inference('a'));
  t.match(verdict, { type: 'stopped', value: { code: 'content_match_invalid_regex', detail: /missing/ } });
});

t.test('matches a pattern in linear time that would backtrack exponentially', async (t) => {
  const text = `${'a'.repeat(100_000)}!`;
  t.equal(after([{ type: 'content_match', pattern: '(a+)+$' }], inference(text)), undefined);
  t.equal(after([{ type: 'content_match', pattern: '^(a|a)*$' }], inference(text)), undefined);
});

t.test('detects a loop of repeated texts, ignoring calls without text', async (t) => {
  const loop: StopCondition = { type: 'loop_detection', window: 2 };
  t.equal(after([loop], inference('a')), undefined);
  t.same(after([loop], inference('a'), inference('a')), stopped('loop_detection'));
  t.same(after([loop], inference('a'), inference('', ['t']), inference('a')), stopped('loop_detection'));
  t.equal(after([loop], inference('a'), inference('b'), inference('a')), undefined);
  t.equal(after([{ type: 'loop_detection', window: 0 }], inference('a')), undefined);
});

t.test('keeps no more texts than the policies need', async (t) => {
  const keep = (...stop_conditions: StopCondition[]) =>
    nextStats(
      { ...startStats(0), recent_response_texts: ['a', 'b', 'c'] },
      inference('d'),
      createStopPolicies({ max_rounds: 1, stop_conditions }).texts,
    ).recent_response_texts;
  t.same(keep(), []);
  t.same(keep({ type: 'loop_detection', window: 3 }), ['b', 'c', 'd']);
});

const errors: [StopCondition, string | RegExp | undefined][] = [
  [{ type: 'timeout', seconds: 86_400 }, undefined],
  [{ type: 'timeout', seconds: 90_000 }, 'timeout.seconds must be <= 86400, got 90000'],
  [
    { type: 'token_budget', max_total: 100_000_001 },
    'token_budget.max_total must be <= 100000000, got 100000001',
  ],
  [{ type: 'loop_detection', window: 65 }, 'loop_detection.window must be <= 64, got 65'],
  [{ type: 'content_match', pattern: 'é'.repeat(1024) }, undefined],
  [{ type: 'content_match', pattern: 'é'.repeat(1025) }, 'content_match.pattern must be <= 1024, got 1025'],
  [{ type: 'content_match', pattern: '' }, undefined],
  [{ type: 'content_match', pattern: '(' }, /^content_match\.pattern must be valid regex: ./],
  [{ type: 'content_match', pattern: '(?=a)' }, /^content_match\.pattern must be valid regex: ./],
  [
    { type: 'content_match', pattern: 'a{900}'.repeat(9) },
    /^content_match\.pattern must be valid regex: .*large/,
  ],
];
for (const [condition, error] of errors) {
  t.test(
    `writing ${JSON.stringify(condition).slice(0, 60)} ${error ? 'is rejected' : 'is accepted'}`,
    async (t) => {
      const found = stopConditionError([{ type: 'max_rounds', rounds: 1 }, condition]);
      if (error instanceof RegExp) t.match(found, error);
      else t.equal(found, error);
    },
  );
}

t.test('rejects unknown fields, unknown types and negative numbers', async (t) => {
  const legal = (given: unknown) => StopCondition.safeParse(given).success;
  t.ok(legal({ type: 'max_rounds', rounds: 3 }));
  t.notOk(legal({ type: 'max_rounds', rounds: 3, more: 1 }));
  t.notOk(legal({ type: 'max_rounds', rounds: -1 }));
  t.notOk(legal({ type: 'weather' }));
});

/** The literal definitions of agent-loop.md 8, applied to the whole sequence. */
const reference = (max_rounds: number, conditions: StopCondition[], turns: readonly Turn[]) => {
  const last = turns.at(-1);
  const answers = turns.flatMap(({ inference: one }) => (one === 'failed' ? [] : [one]));
  if (!last || last.inference === 'failed') return undefined;
  const { text, calls } = last.inference;
  const texts = answers.map((one) => one.text).filter((one) => one !== '');
  const limited = (limit: number) => limit !== 0 && answers.length >= limit;
  const spent = answers.reduce(
    (sum, { usage }) => sum + (usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0),
    0,
  );
  for (const condition of [{ type: 'max_rounds', rounds: max_rounds } as const, ...conditions]) {
    const applies = {
      max_rounds: () => condition.type === 'max_rounds' && limited(condition.rounds),
      timeout: () => condition.type === 'timeout' && last.now > condition.seconds * 1000,
      token_budget: () => condition.type === 'token_budget' && spent > condition.max_total,
      consecutive_errors: () => false,
      stop_on_tool: () =>
        condition.type === 'stop_on_tool' && calls.some(({ name }) => name === condition.tool_name),
      content_match: () => condition.type === 'content_match' && text.includes(condition.pattern),
      loop_detection: () => {
        if (condition.type !== 'loop_detection') return false;
        const window = texts.slice(-Math.max(2, condition.window));
        return window.length === Math.max(2, condition.window) && new Set(window).size === 1;
      },
    }[condition.type]();
    if (!applies) continue;
    return condition.type === 'max_rounds' && calls.length === 0
      ? { type: 'natural_end' }
      : stopped(condition.type);
  }
  return undefined;
};

t.test('agrees with the definitions although the policies only read counters', async () => {
  const condition = fc.oneof<fc.Arbitrary<StopCondition>[]>(
    fc.record({ type: fc.constant('max_rounds'), rounds: fc.nat(6) }),
    fc.record({ type: fc.constant('timeout'), seconds: fc.nat(5) }),
    fc.record({ type: fc.constant('token_budget'), max_total: fc.nat(200) }),
    fc.record({ type: fc.constant('stop_on_tool'), tool_name: fc.constantFrom('a', 'b') }),
    fc.record({ type: fc.constant('content_match'), pattern: fc.constantFrom('x', 'xy', 'yy') }),
    fc.record({ type: fc.constant('loop_detection'), window: fc.nat(4) }),
    fc.record({ type: fc.constant('consecutive_errors'), max: fc.integer({ min: 10, max: 20 }) }),
  );
  const turn = fc.oneof(
    { weight: 1, arbitrary: fc.constant<Turn['inference']>('failed') },
    {
      weight: 9,
      arbitrary: fc
        .tuple(
          fc.constantFrom('', 'x', 'y', 'xy', 'yyy'),
          fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
          fc.integer({ min: 20, max: 60 }),
        )
        .map((parts): Turn['inference'] => inference(...parts)),
    },
  );
  fc.assert(
    fc.property(
      fc.nat(6),
      fc.array(condition, { maxLength: 4 }),
      fc.array(fc.tuple(turn, fc.nat(1500)), { maxLength: 8 }),
      (max_rounds, stop_conditions, steps) => {
        let now = 0;
        const turns = steps.map(([one, later]): Turn => {
          now += later;
          return { inference: one, now };
        });
        const said = verdictsOf({ max_rounds, stop_conditions }, turns);
        const expected = turns.map((_, index) =>
          reference(max_rounds, stop_conditions, turns.slice(0, index + 1)),
        );
        return JSON.stringify(said) === JSON.stringify(expected);
      },
    ),
    { numRuns: 1000 },
  );
});
