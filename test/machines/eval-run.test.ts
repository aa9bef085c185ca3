import t from 'tap';
import type { AnyMachineSnapshot } from 'xstate';
import { evalRunMachine } from '../../machines/index.ts';
import { untaken, walk } from './walk.ts';

const failing = [{ output: undefined }, { error: new Error('no store') }];

const walked = await walk(evalRunMachine, {
  input: { host: {} },
  events: [{ type: 'CANCEL' }, { type: 'RELEASE' }],
  services: {
    begin: failing,
    work: failing,
    settle: [{ output: undefined }],
    finish: failing,
    rest: [{ output: undefined }],
  },
});
const { edges } = walked;

const tagsOf = (snapshot: AnyMachineSnapshot): string[] => [...snapshot.tags];

t.test('covers every transition of the machine', async (t) => {
  t.same(untaken(walked.description, [walked]), []);
});

t.test('executes cells only while the run is durable and not cancelled', async (t) => {
  const begins = edges.filter(({ from, to }) => from.value !== 'running' && to.value === 'running');
  t.same(new Set(begins.map(({ from }) => from.value)), new Set(['planned', 'stuck']));
  for (const { to } of edges) if (to.value === 'running') t.equal(to.context.cancelled, false);
});

t.test('ends as cancelled exactly if it was cancelled, whatever the store does', async (t) => {
  const ends = edges.filter(({ to }) => to.value === 'cancelled' || to.value === 'done');
  t.ok(ends.length > 1);
  for (const { from, to } of ends) {
    t.equal(from.value, 'finishing');
    t.equal(to.value, to.context.cancelled ? 'cancelled' : 'done');
  }
});

t.test('writes the end after the cells that were executing at the cancel', async (t) => {
  const cancels = edges.filter(({ from, event }) => from.value === 'running' && event.type === 'CANCEL');
  t.ok(cancels.length > 0);
  for (const { to } of cancels) t.equal(to.value, 'cancelling');
});

t.test('is tagged as running until its end is durable', async (t) => {
  for (const { to } of edges.filter(({ to }) => to.status === 'active')) t.same(tagsOf(to), ['running']);
  for (const { to } of edges.filter(({ to }) => to.value === 'done')) t.same(tagsOf(to), ['done']);
});

t.test('accepts no event after its end', async (t) => {
  for (const { late } of edges.filter(({ to }) => to.status !== 'active')) t.same(late, []);
});
