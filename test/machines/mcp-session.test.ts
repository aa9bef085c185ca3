import t from 'tap';
import { createActor, SimulatedClock } from 'xstate';
import { mcpSessionMachine } from '../../machines/index.ts';
import { untaken, walk } from './walk.ts';

const MOST = 2;

const EVENTS = [
  { type: 'OPENED', version: '2025-11-25' },
  ...['REFUSED', 'BEGIN', 'SETTLE', 'HEAR', 'DELETE', 'EVICT', 'STOP'].map((type) => ({ type })),
];

const walked = await walk(mcpSessionMachine, { input: { idleMs: 1000, maxOpen: MOST }, events: EVENTS });
const { edges } = walked;

t.test('covers every transition of the machine', async (t) => {
  t.same(untaken(walked.description, [walked]), []);
});

t.test('is busy exactly while requests are open, and limits their number', async (t) => {
  for (const { to } of edges) {
    const { open } = to.context;
    if (to.status === 'active' && to.hasTag('known')) t.equal(to.matches({ open: 'busy' }), open > 0);
    t.ok(open >= 0 && open <= MOST, String(open));
  }
});

t.test('ends a busy session only by its client or with the service', async (t) => {
  const ends = edges.filter(({ from, to }) => from.matches({ open: 'busy' }) && to.status === 'done');
  t.strictSame([...new Set(ends.map(({ event }) => event.type))].sort(), ['DELETE', 'STOP']);
});

t.test('is known only between the handshake and its end', async (t) => {
  for (const { to } of edges) {
    t.equal(to.hasTag('known'), to.matches('open'));
    t.equal(to.matches('open') && to.context.version === undefined, false);
  }
});

t.test('never expires without an idle time', async (t) => {
  const clock = new SimulatedClock();
  const actor = createActor(mcpSessionMachine, { input: { idleMs: 0, maxOpen: MOST }, clock }).start();
  actor.send({ type: 'OPENED', version: '2025-11-25' });
  for (let month = 0; month < 3; month += 1) clock.increment(2 ** 31);
  t.ok(actor.getSnapshot().matches({ open: 'idle' }));
  actor.stop();
});
