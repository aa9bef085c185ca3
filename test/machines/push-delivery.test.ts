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

t.test('the walk takes every transition of the machine', async (t) => {
  t.same(untaken(walked.description, [walked]), []);
});

t.test('no attempt is made before the one before it is written down', async (t) => {
  const attempts = edges.filter(arrives('delivering'));
  t.ok(attempts.length > 0);
  for (const { from } of attempts) t.ok(['idle', 'waiting', 'recording'].includes(sending(from) ?? ''));
  for (const { from, event } of attempts.filter(({ from }) => sending(from) === 'recording')) {
    t.equal(event.type.startsWith(DONE), true);
    t.equal(from.context.verdict === 'failed', false, 'after a failure the delay comes first');
  }
});

t.test('an event that failed is given up with the last of its attempts, and not before', async (t) => {
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

t.test('it is done only when the task is over and the queue was found empty after that', async (t) => {
  const ends = edges.filter(({ to }) => to.value === 'done');
  t.ok(ends.length > 0);
  for (const { to } of ends) t.match(to.context, { ended: true, queued: false, attempts: 0 });
});

t.test('what is queued while the queue is looked at is looked for again', async (t) => {
  const looks = edges.filter(({ from, event }) => sending(from) === 'delivering' && event.output === 'empty');
  t.ok(looks.some(({ from, to }) => from.context.queued && sending(to) === 'delivering'));
  for (const { from, to } of looks)
    t.equal(
      sending(to) === 'delivering' || sending(to) === 'waiting',
      from.context.queued || from.context.attempts > 0,
    );
});

t.test('what comes into the queue is looked for at once, whatever else is known of the task', async (t) => {
  const comes = edges.filter(
    ({ from, event }) => event.type === 'QUEUED' && from.value.active?.following !== 'ended',
  );
  t.same(
    new Set(comes.map(({ from }) => from.value.active.following)),
    new Set(['catchingUp', 'watching', 'pausing']),
  );
  for (const { to } of comes) t.ok(to.context.queued || sending(to) === 'delivering');
});

t.test('a removed config ends everything, and nothing follows', async (t) => {
  const removals = edges.filter(({ event }) => event.type === 'REMOVED');
  t.ok(removals.length > 0);
  for (const { to, late } of removals) {
    t.equal(to.value, 'removed');
    t.same(late, []);
  }
});
