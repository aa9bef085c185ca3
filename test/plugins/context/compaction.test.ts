import t from 'tap';
import { isCompactionDue, planCompaction } from '../../../src/plugins/context/compaction.ts';
import { estimateMessages } from '../../../src/plugins/context/estimate.ts';
import { foldHistory } from '../../../src/plugins/context/fold.ts';
import type { ContextPolicy } from '../../../src/schema/context-policy.ts';
import type { Message } from '../../../src/schema/message.ts';
import fc from '../../random.ts';
import { assistant, calls, histories, openCalls, result, retraction, summary, user } from './history.ts';

type Mode = ContextPolicy['compaction_mode'];

const rule = (compaction_mode: Mode = 'keep_recent_raw_suffix', compaction_raw_suffix_messages = 2) => ({
  compaction_mode,
  compaction_raw_suffix_messages,
});

const FRONTIER = rule('compact_to_safe_frontier');

/** The number of oldest messages that a plan covers. */
const covered = (history: readonly Message[], by = rule()): number =>
  planCompaction(history, by)?.range.to_seq ?? 0;

t.test('is due when the estimate of system texts and messages reaches the threshold', async (t) => {
  const request = { system: ['x '.repeat(6)], messages: [user(90)] };
  t.equal(isCompactionDue(request, { autocompact_threshold: 100 }), true);
  t.equal(isCompactionDue(request, { autocompact_threshold: 101 }), false);
  t.equal(isCompactionDue(request, {}), false);
});

t.test('keeps everything from the latest visible user message on uncompacted', async (t) => {
  const turn = [user(1024), assistant()];
  t.equal(covered([...turn, user(), calls('a'), result('a'), assistant(), assistant()]), 2);
});

t.test('keeps the last messages uncompacted, however old the user message', async (t) => {
  t.equal(covered([user(2000), assistant(), user()], rule('keep_recent_raw_suffix', 2)), 1);
  t.equal(covered([user(2000), assistant(), user()], rule('keep_recent_raw_suffix', 0)), 2);
});

t.test('keeps only the last message and its exchange uncompacted up to the safe frontier', async (t) => {
  t.equal(covered([user(2000), assistant(), user()], FRONTIER), 2);
  t.equal(
    covered([user(2000), calls('a'), result('a'), calls('b', 'c'), result('b'), result('c')], FRONTIER),
    3,
  );
});

t.test('never ends a range between a call and its result', async (t) => {
  const history = [user(2000), calls('a', 'b'), result('a'), result('b'), assistant()];
  t.equal(covered(history, rule('keep_recent_raw_suffix', 5)), 0);
  for (const suffix of [4, 3, 2]) {
    t.equal(
      covered([...history, user()], rule('keep_recent_raw_suffix', suffix)),
      suffix === 2 ? 4 : 1,
      `${suffix}`,
    );
  }
});

t.test('keeps a result after a suspension with its call', async (t) => {
  const history = [user(2000), calls('a'), result('a'), user(), result('a'), assistant(), user()];
  t.equal(covered(history, FRONTIER), 6);
  t.equal(covered(history.slice(0, 5), FRONTIER), 1);
  t.equal(covered([user(2000), calls('a'), result('a'), user(), retraction('a')], FRONTIER), 1);
});

t.test('treats a call without a result as open until the next message', async (t) => {
  t.equal(covered([user(2000), assistant(), calls('a'), result('b'), result('b')], FRONTIER), 2);
  t.equal(covered([user(2000), calls('a'), user(), assistant()], FRONTIER), 3);
});

t.test('skips a range that would save fewer than 1024 tokens, with the reason', async (t) => {
  const history = (tokens: number) => [user(tokens), assistant(10), user(), assistant()];
  t.match(planCompaction(history(1014), rule()), { kind: 'compact', pre_tokens: 1024 });
  t.match(planCompaction(history(1013), rule()), {
    kind: 'skip',
    reason: 'too_little_gain',
    pre_tokens: 1023,
    range: { from_seq: 1, to_seq: 2 },
  });
});

t.test('includes the previous summary, and summarizes only later messages', async (t) => {
  const before = summary(1, 2);
  const history = [user(), assistant(), before, user(1024), assistant(), user(), assistant()];
  const plan = planCompaction(history, rule());
  t.match(plan, {
    kind: 'compact',
    range: { from_seq: 1, to_seq: 5 },
    boundary_message_id: history[4]?.id,
    previous: { id: before.id },
  });
  t.same(
    plan?.kind === 'compact' && plan.messages.map(({ id }) => id),
    history.slice(3, 5).map(({ id }) => id),
  );
  t.equal(plan?.pre_tokens, 1034 + estimateMessages([before]));
});

t.test('does not plan a range again that is covered or has already failed', async (t) => {
  const history = [user(2000), assistant(), user(), assistant()];
  t.equal(planCompaction([...history, summary(1, 2), assistant()], rule()), undefined);
  t.equal(planCompaction(history, rule(), 2), undefined);
  t.match(planCompaction([...history, user(), assistant()], rule(), 2), { range: { to_seq: 4 } });
});

t.test('plans nothing for a thread without messages', async (t) => {
  t.equal(planCompaction([], rule()), undefined);
  t.equal(planCompaction([user(5000)], FRONTIER), undefined);
});

t.test(
  'covers the maximum range without open calls, the last message and the uncompacted suffix',
  async () => {
    const mode = fc.constantFrom<Mode[]>('keep_recent_raw_suffix', 'compact_to_safe_frontier');
    fc.assert(
      fc.property(histories, mode, fc.nat(6), (history, compaction_mode, suffix) => {
        const to = covered(history, rule(compaction_mode, suffix));
        const latest = history.findLastIndex(({ role, visibility }) => role === 'user' && !visibility);
        const limit =
          compaction_mode === 'compact_to_safe_frontier'
            ? history.length - 1
            : Math.min(history.length - 1, history.length - suffix, latest < 0 ? history.length : latest);
        const isSafe = (end: number) => openCalls(history.slice(0, end)).length === 0;
        const larger = Array.from({ length: Math.max(0, limit - to) }, (_, index) => to + 1 + index);
        return to <= Math.max(0, limit) && isSafe(to) && larger.every((end) => !isSafe(end));
      }),
      { numRuns: 1000 },
    );
  },
);

t.test('folds a growing thread to one summary and an uncompacted tail after any compactions', async () => {
  fc.assert(
    fc.property(fc.array(histories, { minLength: 1, maxLength: 6 }), (turns) => {
      const history: Message[] = [];
      return turns.every((turn) => {
        history.push(...turn, user(1100), assistant(), user(), assistant());
        const plan = planCompaction(history, rule());
        if (plan?.kind !== 'compact') return false;
        const { from_seq, to_seq } = plan.range;
        const made = summary(from_seq, to_seq);
        const tail = history.slice(to_seq);
        history.push(made);
        const folded = foldHistory(history);
        return (
          folded[0] === made &&
          folded.length === tail.length + 1 &&
          tail.every((message, index) => folded[index + 1] === message) &&
          planCompaction(history, rule()) === undefined
        );
      });
    }),
    { numRuns: 200 },
  );
});
