import t from 'tap';
import type { AnyMachineSnapshot } from 'xstate';
import { mcpConnectionMachine } from '../../machines/index.ts';
import { pathOf, untaken, walk } from './walk.ts';

const EVENTS = [
  { type: 'CALL_SUCCEEDED' },
  { type: 'CALL_FAILED', error: 'no answer' },
  { type: 'LOST', error: 'it exited' },
  { type: 'TOOLS_CHANGED' },
  { type: 'RESTART' },
  { type: 'REMOVE' },
  { type: 'STOP' },
];
const SERVICES = {
  connect: [{ output: undefined }, { error: new Error('refused') }],
  list: [{ output: undefined }, { error: new Error('no list') }],
  drain: [{ output: undefined }, { error: new Error('too long') }],
  close: [{ output: undefined }, { error: new Error('stuck') }],
};
const FIRST = 3;
const AGAIN = 2;

const world = (refreshMs: number) => ({
  input: {
    host: {},
    now: () => 1000,
    threshold: 2,
    retry: { delayMs: 1, multiplier: 2, maxDelayMs: 4, first: FIRST, again: AGAIN },
    refreshMs,
  },
  events: EVENTS,
  services: SERVICES,
});

const walks = await Promise.all([
  walk(mcpConnectionMachine, world(0)),
  walk(mcpConnectionMachine, world(60)),
]);
const [first] = walks;
const edges = walks.flatMap((walked) => walked.edges);

const isIn = (state: string, snapshot: AnyMachineSnapshot): boolean =>
  pathOf(snapshot).split('.')[0] === state;

t.test('covers every transition of the machine', async (t) => {
  if (first) t.same(untaken(first.description, walks), []);
});

t.test('closes every ending connection, and accepts no other event afterwards', async (t) => {
  const leaves = edges.filter(({ event }) => event.type === 'STOP' || event.type === 'REMOVE');
  t.ok(leaves.length > 0);
  for (const { from, event, to } of leaves.filter(({ from }) => !isIn('stopping', from))) {
    if (from.status !== 'active') continue;
    t.equal(pathOf(to), event.type === 'STOP' || isIn('stopping', from) ? 'stopping' : 'draining');
  }
  for (const { from, to } of edges.filter(({ to }) => to.value === 'stopped')) {
    t.ok(isIn('stopping', from) || isIn('stopped', from), `${pathOf(from)} to ${pathOf(to)}`);
  }
});

t.test('lists tools from the first connection until it fails permanently or is removed', async (t) => {
  for (const { from, to } of edges) {
    if (!from.hasTag('listed') || to.hasTag('listed')) continue;
    // A server that was never reached has no tools in any state.
    t.ok(['givenUp', 'draining', 'stopping'].some((state) => isIn(state, to)) || !from.context.reached);
  }
  t.ok(edges.filter(({ to }) => to.hasTag('connected')).every(({ to }) => to.hasTag('listed')));
});

t.test('fails permanently only when its attempts are exhausted, and recovers on a restart', async (t) => {
  const given = edges.filter(({ from, to }) => !isIn('givenUp', from) && isIn('givenUp', to));
  t.ok(given.some(({ to }) => to.context.reached) && given.some(({ to }) => !to.context.reached));
  for (const { to } of given) t.equal(to.context.attempts, to.context.reached ? AGAIN : FIRST);
  for (const { from, event, to } of edges.filter(({ from }) => isIn('givenUp', from))) {
    if (event.type === 'RESTART') {
      t.match(to.context, { attempts: 0, error: null, discovery: { failures: 0 }, rpc: { failures: 0 } });
      t.ok(isIn(from.context.reached ? 'reconnecting' : 'connecting', to));
    } else if (!['STOP', 'REMOVE'].includes(event.type)) t.ok(isIn('givenUp', to));
  }
});

t.test('resets failures of a kind on a success of that kind or a new connection', async (t) => {
  for (const { from, event, to } of edges) {
    for (const kind of ['discovery', 'rpc'] as const) {
      if (to.context[kind].failures >= from.context[kind].failures) continue;
      const own =
        kind === 'rpc' ? event.type === 'CALL_SUCCEEDED' : event.type.startsWith('xstate.done.actor');
      t.ok(own || event.type === 'RESTART' || (isIn('ready', to) && !isIn('ready', from)), event.type);
    }
  }
});

t.test('ends the connection at the failure threshold, and degrades it below', async (t) => {
  const failures = edges.filter(
    ({ from, to }) =>
      isIn('ready', from) &&
      to.context.rpc.failures + to.context.discovery.failures >
        from.context.rpc.failures + from.context.discovery.failures,
  );
  t.ok(failures.length > 0);
  for (const { to } of failures) {
    const longest = Math.max(to.context.rpc.failures, to.context.discovery.failures);
    if (longest >= 2) t.ok(isIn('detaching', to));
    else t.match(to.value, { ready: { health: 'degraded' } });
  }
});

t.test('reads the list again when a change arrives during a read', async (t) => {
  const outdated = edges.filter(
    ({ from, event }) =>
      from.value?.ready?.catalogue?.listing === 'outdated' && event.type.startsWith('xstate.done.actor'),
  );
  t.ok(outdated.length > 0);
  for (const { to } of outdated) t.match(to.value, { ready: { catalogue: 'settling' } });
});
