import t from 'tap';
import type { AnyMachineSnapshot } from 'xstate';
import { pushDeliveryMachine } from '../../machines/index.ts';
import { type Edge, untaken, walk } from './walk.ts';

const MAX_ATTEMPTS = 3;
const DONE = 'xstate.done.actor.';

const walked = await walk(pushDeliveryMachine, {
  input: { host: {}, attempts: 0, maxAttempts: MAX_ATTEMPTS },
  events: [
    { type: 'QUEUED', last: false },
    { type: 'QUEUED', last: true },
    { type: 'MISSED' },
    { type: 'REMOVED' },
  ],
  services: {
    follow: [
      { output: 'watching' },
      { output: 'ended' },
      { output: 'gone' },
      { error: new Error('no store') },
    ],
    send: [{ output: 'sent' }, { output: 'empty' }, { error: new Error('no answer') }],
    record: [{ output: undefined }, { error: new Error('no store') }],
    rest: [{ output: undefined }],
  },
});
const { edges } = walked;

const sending = ({ value }: AnyMachineSnapshot): string | undefined => value.active?.sending;
const arrives = (state: string) => (edge: Edge) => sending(edge.from) !== state && sending(edge.to) === state;

t.test('covers every transition of the machine', async (t) => {
  t.same(untaken(walked.description, [walked]), []);
});

t.test('records each attempt before the next one', async (t) => {
  const attempts = edges.filter(arrives('delivering'));
  t.ok(attempts.length > 0);
  for (const { from } of attempts) t.ok(['idle', 'waiting', 'recording'].includes(sending(from) ?? ''));
  for (const { from, event } of attempts.filter(({ from }) => sending(from) === 'recording')) {
    t.equal(event.type.startsWith(DONE), true);
    t.equal(from.context.verdict === 'failed', false, 'a delay follows a failed attempt');
  }
});

t.test('abandons a failed event after its last attempt only', async (t) => {
  const failures = edges.filter(
    ({ from, to }) =>
      sending(from) === 'delivering' && to.context.error !== undefined && sending(to) === 'recording',
  );
  t.ok(failures.length > 0);
  for (const { from, to } of failures) {
    const last = from.context.attempts + 1 === MAX_ATTEMPTS;
    t.equal(to.context.verdict, last ? 'given_up' : 'failed');
  }
});

t.test('ends only after the task has ended and the queue has become empty', async (t) => {
  const ends = edges.filter(({ to }) => to.value === 'done');
  t.ok(ends.length > 0);
  for (const { to } of ends) t.match(to.context, { ended: true, queued: false, attempts: 0 });
});

t.test('reads the queue again if an event was queued during a read', async (t) => {
  const looks = edges.filter(({ from, event }) => sending(from) === 'delivering' && event.output === 'empty');
  t.ok(looks.some(({ from, to }) => from.context.queued && sending(to) === 'delivering'));
  for (const { from, to } of looks)
    t.equal(
      sending(to) === 'delivering' || sending(to) === 'waiting',
      from.context.queued || from.context.attempts > 0,
    );
});

t.test('reads the queue at once when an event is queued, in every state of the task', async (t) => {
  const comes = edges.filter(
    ({ from, event }) => event.type === 'QUEUED' && from.value.active?.following !== 'ended',
  );
  t.same(
    new Set(comes.map(({ from }) => from.value.active.following)),
    new Set(['catchingUp', 'watching', 'pausing']),
  );
  for (const { to } of comes) t.ok(to.context.queued || sending(to) === 'delivering');
});

t.test('ends on a removed config, and accepts no further event', async (t) => {
  const removals = edges.filter(({ event }) => event.type === 'REMOVED');
  t.ok(removals.length > 0);
  for (const { to, late } of removals) {
    t.equal(to.value, 'removed');
    t.same(late, []);
  }
});
