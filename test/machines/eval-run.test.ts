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

t.test('the walk takes every transition of the machine', async (t) => {
  t.same(untaken(walked.description, [walked]), []);
});

t.test('cells are played only when the run is durable, and never once it is cancelled', async (t) => {
  const begins = edges.filter(({ from, to }) => from.value !== 'running' && to.value === 'running');
  t.same(new Set(begins.map(({ from }) => from.value)), new Set(['planned', 'stuck']));
  for (const { to } of edges) if (to.value === 'running') t.equal(to.context.cancelled, false);
});

t.test('a run that was cancelled ends cancelled, whatever the store does, and no other does', async (t) => {
  const ends = edges.filter(({ to }) => to.value === 'cancelled' || to.value === 'done');
  t.ok(ends.length > 1);
  for (const { from, to } of ends) {
    t.equal(from.value, 'finishing');
    t.equal(to.value, to.context.cancelled ? 'cancelled' : 'done');
  }
});

t.test('the end is written behind what was under way when the run was cancelled', async (t) => {
  const cancels = edges.filter(({ from, event }) => from.value === 'running' && event.type === 'CANCEL');
  t.ok(cancels.length > 0);
  for (const { to } of cancels) t.equal(to.value, 'cancelling');
});

t.test('a run is told as running until its end is durable', async (t) => {
  for (const { to } of edges.filter(({ to }) => to.status === 'active')) t.same(tagsOf(to), ['running']);
  for (const { to } of edges.filter(({ to }) => to.value === 'done')) t.same(tagsOf(to), ['done']);
});

t.test('nothing follows an end', async (t) => {
  for (const { late } of edges.filter(({ to }) => to.status !== 'active')) t.same(late, []);
});
