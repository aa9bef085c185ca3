import t from 'tap';
import { planRecovery } from '../../src/models/recovery-plan.ts';
import { textOf } from '../../src/schema/message.ts';
import fc from '../random.ts';

const done = (id: string) => ({ id, name: `tool_${id}`, complete: true });
const open = (id: string) => ({ id, name: `tool_${id}`, complete: false });

t.test('complete calls form the completion, with or without text', async (t) => {
  t.same(planRecovery({ text: '', calls: [done('a')] }), { kind: 'finish', lost: [] });
  t.same(planRecovery({ text: 'Hi', calls: [done('a'), done('b')] }), { kind: 'finish', lost: [] });
});

t.test('reports a lost call next to complete ones to the model', async (t) => {
  const plan = planRecovery({ text: '', calls: [done('a'), open('b')] });
  t.match(plan, { kind: 'finish', lost: [open('b')], note: /'tool_b'/ });
  t.notMatch(plan, { note: /tool_a/ });
});

t.test('continues text where it stops', async (t) => {
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
  t.notMatch(textOf(plan.messages[1]?.content ?? []), /call/, 'the prompt mentions no calls if none is lost');
});

t.test('drops a call that was interrupted after text, and informs the model', async (t) => {
  const plan = planRecovery({ text: 'Looking', calls: [open('b')] });
  if (plan.kind !== 'continue') return t.fail(plan.kind);
  t.same(plan.lost, [open('b')]);
  t.match(textOf(plan.messages[1]?.content ?? []), /'tool_b'/);
});

t.test('restarts without text or a complete call', async (t) => {
  t.same(planRecovery({ text: '', calls: [] }), { kind: 'restart' });
  t.same(planRecovery({ text: ' \n', calls: [] }), { kind: 'restart' });
  t.same(planRecovery({ text: '', calls: [open('a')] }), { kind: 'restart' });
});

t.test('keeps every complete call and drops every open one for any output', async () => {
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
