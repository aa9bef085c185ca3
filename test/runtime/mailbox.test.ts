import t, { type Test } from 'tap';
import type { Provider } from '../../src/models/model.ts';
import type { Submission } from '../../src/runtime/index.ts';
import { textOf } from '../../src/schema/message.ts';
import { defer, settle, when } from '../http/serve.ts';
import { installTime } from '../property/time.ts';
import { rowsOf } from './rows.ts';
import { startRuntime } from './runtime.ts';

/** Priority, delay, keys and epochs of queued work: runtime.md 10.3 and 10.4 rules 1 to 3. */

/** A model that echoes the last user message once the test releases it. */
const held = () => {
  const go = defer();
  const asked: string[] = [];
  const provider: Provider = {
    id: 'held',
    model: ({ id }) => ({
      id,
      provider: 'held',
      upstream: id,
      async stream({ messages }, sink, signal) {
        asked.push(textOf(messages.findLast(({ role }) => role === 'user')?.content ?? []));
        await Promise.race([
          go.promise,
          new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        ]);
        sink.text(`answer: ${asked.at(-1)}`);
        return { stop: 'EndTurn' };
      },
    }),
  };
  return { provider, asked, go: () => go.resolve() };
};

const begin = async (t: Test, now = Date.now) => {
  const model = held();
  const started = await startRuntime(t, { provider: model.provider, now });
  const { runtime, input } = started;
  const queue = (text: string, more: Partial<Submission> = {}, thread = 'T') =>
    runtime.submit('default', thread, { ...input(text), mode: 'queue', ...more });
  return { ...started, model, queue, rows: rowsOf(started, 'T') };
};

t.test('executes queued work by priority, then in order of arrival', async (t) => {
  const { queue, model, rows } = await begin(t);
  await queue('first');
  const priorities = [200, 128, 5, 255, 128, 0, 5];
  for (const [index, priority] of priorities.entries()) await queue(`${priority} ${index}`, { priority });
  t.strictSame(
    rows.dispatches().map(({ priority }) => priority),
    [0, 5, 5, 128, 128, 128, 200, 255],
    'the list has the same order',
  );
  model.go();
  await rows.rest();
  t.strictSame(model.asked, ['first', '0 5', '5 2', '5 6', '128 1', '128 4', '200 0', '255 3']);
  rows.check(t);
});

t.test('executes delayed work at its time without blocking other work', async (t) => {
  const time = installTime();
  t.teardown(time.uninstall);
  const { queue, model, rows, runtime } = await begin(t, time.now);
  model.go();
  const inAnHour = time.now() + 3_600_000;
  const later = await queue('later', { available_at: inAnHour, priority: 0 });
  t.match(later, { status: 'queued' });
  const soon = time.now() + 2000;
  const delayed = await queue('soon', { available_at: soon });
  const now = await queue('now');
  t.equal(now.status, 'running');
  const statusOf = ({ run_id }: { run_id: string }) =>
    rows.runs().find((run) => run.run_id === run_id)?.status;
  await when(() => statusOf(now) === 'done');
  await time.advance(1999, settle);
  t.strictSame(model.asked, ['now']);
  await time.advance(1, settle);
  await when(() => statusOf(delayed) === 'done');
  t.strictSame(model.asked, ['now', 'soon']);
  const claimed = rows
    .events()
    .find(({ event_kind, run_id }) => event_kind === 'RunSubmitted' && run_id === delayed.run_id);
  t.ok(Number(claimed?.created_at) >= soon, 'the input is not claimed early');
  t.match(
    rows.dispatches().find(({ dispatch_id }) => dispatch_id === later.dispatch_id),
    { status: 'Queued', available_at: inAnHour },
  );
  t.match(
    rows.runs().find(({ run_id }) => run_id === later.run_id),
    { status: 'created' },
  );
  await runtime.cancel('default', later.run_id, 'run');
  t.strictSame(model.asked, ['now', 'soon']);
  t.ok(rows.said().includes('later'), 'the delayed input is kept');
  rows.check(t);
});

t.test('rejects work with the key of unfinished work on the same thread', async (t) => {
  const { queue, model, rows } = await begin(t);
  const refused = { name: 'Conflict', message: 'already exists: dedupe_key=k' };
  await queue('executes', { dedupe_key: 'k' });
  await t.rejects(queue('again', { dedupe_key: 'k' }), refused);
  await queue('queued', { dedupe_key: 'q' });
  await t.rejects(queue('again', { dedupe_key: 'q' }), { message: 'already exists: dedupe_key=q' });
  await queue('no key');
  await queue('no key either');
  await queue('elsewhere', { dedupe_key: 'k' }, 'other thread');
  model.go();
  await rows.rest();
  await queue('after the end', { dedupe_key: 'k' });
  await rows.rest();
  t.strictSame(rows.said(), ['executes', 'queued', 'no key', 'no key either', 'after the end']);
  t.match(rows.dispatches()[0], { dedupe_key: 'k', status: 'Acked' });
  rows.check(t);
});

t.test('accepts one of several concurrent inputs with the same key', async (t) => {
  const { queue, model, rows } = await begin(t);
  const pushes = ['a', 'b', 'c', 'd'].map((text) => queue(text, { dedupe_key: 'k' }));
  const settled = await Promise.allSettled(pushes);
  t.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1);
  model.go();
  await rows.rest();
  t.equal(rows.said().length, 1);
  rows.check(t);
});

t.test('releases the key of cancelled or superseded work', async (t) => {
  const { queue, model, rows, runtime } = await begin(t);
  await queue('executes');
  const cancelled = await queue('one', { dedupe_key: 'k' });
  await runtime.cancel('default', cancelled.run_id, 'run');
  await queue('two', { dedupe_key: 'k' });
  t.equal(await runtime.interrupt('default', 'T'), 1);
  await queue('three', { dedupe_key: 'k' });
  model.go();
  await rows.rest();
  t.equal(rows.said().length, 4);
  rows.check(t);
});

t.test('raises the epoch on interrupts and foreground runs, and supersedes older dispatches', async (t) => {
  const { queue, model, rows, runtime, input } = await begin(t);
  const of = ({ dispatch_id }: { dispatch_id: string }) =>
    rows.dispatches().find((each) => each.dispatch_id === dispatch_id);
  const first = await queue('one');
  t.equal(of(first)?.dispatch_epoch, 0);
  await runtime.interrupt('default', 'T');
  const second = await queue('two');
  t.equal(of(second)?.dispatch_epoch, 1);
  const foreground = await runtime.submit('default', 'T', { ...input('three'), mode: 'foreground' });
  t.ok(Number(of(foreground)?.dispatch_epoch) > 1);
  const queued = await queue('four');
  t.equal(of(queued)?.dispatch_epoch, of(foreground)?.dispatch_epoch);
  model.go();
  await rows.rest();
  t.strictSame(
    [first, second, foreground, queued].map((each) => of(each)?.status),
    ['Superseded', 'Superseded', 'Acked', 'Acked'],
  );
  rows.check(t);
});

t.test('has a claim token on a dispatch only while it is claimed', async (t) => {
  const { queue, model, rows } = await begin(t);
  await queue('one');
  t.match(rows.dispatches(), [{ status: 'Claimed', claim_token: /^\S+$/, claimed_by: /^\S+$/ }]);
  model.go();
  await rows.rest();
  t.match(rows.dispatches(), [{ status: 'Acked', claim_token: null, claimed_by: null, lease_until: null }]);
});
