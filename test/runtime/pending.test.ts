import t from 'tap';
import { blockingBarrier, selectPending } from '../../src/runtime/ledger/pending.ts';
import { textOf } from '../../src/schema/message.ts';
import type { Boundary, DeliveryMode, PendingMessage } from '../../src/schema/pending.ts';
import { startRuntime } from './runtime.ts';

/** Pending messages that will join a history (runtime.md 9). */

const SCOPE = 'default';

const entries = (...modes: (Partial<DeliveryMode> & { boundary: Boundary })[]): PendingMessage[] =>
  modes.map((mode, index) => ({
    pending_id: `m${index + 1}`,
    thread_id: 'T',
    position: index + 1,
    message: { id: `m${index + 1}`, role: 'user', content: [] },
    revision: 1,
    delivery_mode: { granularity: 'batch', ...mode },
    created_at: 0,
    updated_at: 0,
  }));

const selected = (pending: PendingMessage[], at: Boundary, run_id = 'r1'): string[] =>
  selectPending(pending, at, run_id).map(({ pending_id }) => pending_id);

t.test('takes messages due at or before a boundary, in order', async (t) => {
  const pending = entries(
    { boundary: 'interrupt' },
    { boundary: 'next_step' },
    { boundary: 'on_natural_end' },
    { boundary: 'new_run' },
  );
  t.same(selected(pending, 'interrupt'), ['m1']);
  t.same(selected(pending, 'next_step'), ['m1', 'm2']);
  t.same(selected(pending, 'on_natural_end'), ['m1', 'm2', 'm3']);
  t.same(selected(pending, 'new_run'), ['m1', 'm2', 'm3', 'm4']);
});

t.test('takes input for a suspended run only when it resumes', async (t) => {
  const pending = entries({ boundary: 'resume_input' });
  t.same(selected(pending, 'resume_input'), ['m1']);
  for (const at of ['interrupt', 'next_step', 'on_natural_end', 'new_run'] as const) {
    t.same(selected(pending, at), []);
  }
});

t.test('skips messages for a new run, but not those that are due earlier', async (t) => {
  t.same(selected(entries({ boundary: 'new_run' }, { boundary: 'next_step' }), 'next_step'), ['m2']);
  t.same(selected(entries({ boundary: 'on_natural_end' }, { boundary: 'next_step' }), 'next_step'), []);
});

t.test('delivers a message for a run to that run only', async (t) => {
  const pending = entries(
    { boundary: 'new_run', target_run_id: 'r2' },
    { boundary: 'new_run', target_run_id: 'r1' },
    { boundary: 'next_step', target_run_id: 'r3', fallback_to_new_run: false },
    { boundary: 'next_step', target_run_id: 'r3' },
  );
  t.same(selected(pending, 'new_run', 'r1'), ['m2', 'm4']);
  t.same(selected(pending, 'new_run', 'r2'), ['m1', 'm4']);
  t.same(selected(pending, 'next_step', 'r3'), ['m3', 'm4']);
});

t.test('ends the batch at a barrier, and blocks behind one that is not due', async (t) => {
  const due = entries(
    { boundary: 'next_step' },
    { boundary: 'next_step', barrier: true },
    { boundary: 'next_step' },
  );
  t.same(selected(due, 'next_step'), ['m1', 'm2']);
  const later = entries({ boundary: 'new_run', barrier: true }, { boundary: 'next_step' });
  t.same(selected(later, 'next_step'), []);
  const behind = entries({ boundary: 'new_run' }, { boundary: 'next_step', barrier: true });
  t.same(selected(behind, 'next_step'), []);
  t.equal(blockingBarrier(later, 'interrupt')?.pending_id, 'm1');
  t.equal(blockingBarrier(entries({ boundary: 'interrupt', barrier: true }), 'interrupt'), undefined);
});

t.test('delivers a message with granularity `one` alone', async (t) => {
  t.same(
    selected(entries({ boundary: 'next_step', granularity: 'one' }, { boundary: 'next_step' }), 'next_step'),
    ['m1'],
  );
  t.same(
    selected(entries({ boundary: 'next_step' }, { boundary: 'next_step', granularity: 'one' }), 'next_step'),
    ['m1'],
  );
});

const say = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] });

const scene = async (t: Parameters<typeof startRuntime>[0]) => {
  const { runtime, input, store } = await startRuntime(t);
  await runtime.submit(SCOPE, 'T', { ...input('Hello'), mode: 'queue' });
  const settled = async (): Promise<string[]> => {
    while (store.runs.count(SCOPE, 'running') + store.runs.count(SCOPE, 'created') > 0) {
      await new Promise(setImmediate);
    }
    return Array.from(store.messages.range(SCOPE, 'T', {}), ({ message }) => textOf(message.content));
  };
  await settled();
  return { runtime, pending: runtime.pending, input, settled };
};

t.test('edits, reorders and removes pending messages, and the next run takes the rest', async (t) => {
  const { runtime, pending, input, settled } = await scene(t);
  const added = [];
  for (const text of ['one', 'two', 'three']) {
    added.push(await pending.add(SCOPE, 'T', say(text), { boundary: 'interrupt' }));
  }
  const [one, two, three] = added;
  t.ok(one && two && three);
  if (!one || !two || !three) return;
  const at = ({ pending_id, revision }: PendingMessage) => ({ pending_id, revision });
  const edited = await pending.update(SCOPE, 'T', at(one), say('ONE').content);
  t.equal(edited.revision, 2);
  await t.rejects(pending.update(SCOPE, 'T', at(one), []), {
    message: 'version conflict: expected 1, actual 2',
  });
  await pending.remove(SCOPE, 'T', at(two));
  await pending.reorder(SCOPE, 'T', at(three), 1);
  await t.rejects(pending.reorder(SCOPE, 'T', at(edited), 3), { message: /from 1 to 2/ });
  const listed = await pending.list(SCOPE, 'T');
  t.same(
    listed.map(({ pending_id, position }) => [pending_id, position]),
    [
      [three.pending_id, 1],
      [one.pending_id, 2],
    ],
  );
  await runtime.submit(SCOPE, 'T', { ...input('now'), mode: 'foreground' });
  t.same(
    (await settled()).filter((text) => ['three', 'ONE', 'two', 'now'].includes(text)),
    ['three', 'ONE', 'now'],
  );
  await t.rejects(pending.remove(SCOPE, 'T', at(edited)), {
    message: `pending message '${one.pending_id}' is already consumed`,
  });
  await t.rejects(pending.remove(SCOPE, 'T', at(two)), {
    message: `pending message not found: ${two.pending_id}`,
  });
  await t.rejects(pending.list(SCOPE, 'nowhere'), { message: 'thread not found: nowhere' });
});

t.test('rejects a foreground run at a barrier without losing a message', async (t) => {
  const { runtime, pending, input } = await scene(t);
  const { pending_id } = await pending.add(SCOPE, 'T', say('first'), { boundary: 'new_run', barrier: true });
  await t.rejects(runtime.submit(SCOPE, 'T', { ...input('now'), mode: 'foreground' }), {
    message: `delivery blocked by barrier: pending '${pending_id}' must be consumed first`,
  });
  t.equal((await pending.list(SCOPE, 'T')).length, 1);
});
