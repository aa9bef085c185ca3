import t from 'tap';
import { planRecovery } from '../../src/models/recovery-plan.ts';
import { textOf } from '../../src/schema/message.ts';
import fc from '../random.ts';

const done = (id: string) => ({ id, name: `tool_${id}`, complete: true });
const open = (id: string) => ({ id, name: `tool_${id}`, complete: false });

t.test('complete calls are the answer, with or without text', async (t) => {
  t.same(planRecovery({ text: '', calls: [done('a')] }), { kind: 'finish', lost: [] });
  t.same(planRecovery({ text: 'Hi', calls: [done('a'), done('b')] }), { kind: 'finish', lost: [] });
});

t.test('a call that is lost beside complete ones is named to the model', async (t) => {
  const plan = planRecovery({ text: '', calls: [done('a'), open('b')] });
  t.match(plan, { kind: 'finish', lost: [open('b')], note: /'tool_b'/ });
  t.notMatch(plan, { note: /tool_a/ });
});

t.test('text is continued from where it stops', async (t) => {
  const plan = planRecovery({ text: 'Once upon', calls: [] });
  t.match(plan, {
    kind: 'continue',
    lost: [],
    messages: [
      { role: 'assistant', content: [{ text: 'Once upon' }] },
      { role: 'user', visibility: 'internal' },
    ],
  });
  if (plan.kind !== 'continue') return t.fail(plan.kind);
  t.notMatch(textOf(plan.messages[1]?.content ?? []), /call/, 'nothing is said of calls when none is lost');
});

t.test('a call that broke off after text is lost, and the model is told', async (t) => {
  const plan = planRecovery({ text: 'Looking', calls: [open('b')] });
  if (plan.kind !== 'continue') return t.fail(plan.kind);
  t.same(plan.lost, [open('b')]);
  t.match(textOf(plan.messages[1]?.content ?? []), /'tool_b'/);
});

t.test('without text or a complete call there is nothing to keep', async (t) => {
  t.same(planRecovery({ text: '', calls: [] }), { kind: 'restart' });
  t.same(planRecovery({ text: ' \n', calls: [] }), { kind: 'restart' });
  t.same(planRecovery({ text: '', calls: [open('a')] }), { kind: 'restart' });
});

t.test('whatever came, no complete call is lost and every open one is', async () => {
  const call = fc.record({ id: fc.string(), name: fc.string(), complete: fc.boolean() });
  fc.assert(
    fc.property(fc.string(), fc.array(call), (text, calls) => {
      const plan = planRecovery({ text, calls });
      const complete = calls.some((each) => each.complete);
      if (complete !== (plan.kind === 'finish')) return false;
      if (plan.kind === 'restart') return text.trim() === '';
      return calls.every((each) => plan.lost.includes(each) === !each.complete);
    }),
  );
});
