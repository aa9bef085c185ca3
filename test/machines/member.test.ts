import t from 'tap';
import type { AnyMachineSnapshot } from 'xstate';
import { type MemberState, memberMachine, memberStateOf } from '../../machines/member.ts';
import type { MemberView } from '../../src/cluster/member-types.ts';
import { pathOf, untaken, type Walk, walk } from './walk.ts';

const EVENTS = [
  { type: 'CLAIMED' },
  { type: 'RENEWED' },
  { type: 'RENEWAL_FAILED' },
  { type: 'COMMIT_UNKNOWN' },
  { type: 'LEASE_OVER' },
  { type: 'FENCED' },
  { type: 'COPY_BROKEN' },
  { type: 'DRAIN' },
];
const ENTRY = [{ output: 'done' }, { output: 'refused' }, { error: new Error('no answer') }];
const SERVICE = [{ output: undefined }, { error: new Error('failed') }];

const walked: Walk = await walk(memberMachine, {
  events: EVENTS,
  services: { open: ENTRY, join: ENTRY, load: SERVICE, drain: SERVICE, release: SERVICE },
});

const stateOf = (snapshot: AnyMachineSnapshot): MemberState => memberStateOf(snapshot);
const edgesFrom = (state: MemberState) => walked.edges.filter(({ from }) => stateOf(from) === state);
/** The event without the outcome of a service. */
const eventOf = ({ event }: Walk['edges'][number]): string => event.type.replace(/^xstate\.(.*?)\..*$/, '$1');

t.test('covers every transition of the machine', async (t) => {
  t.same(untaken(walked.description, [walked]), []);
});

t.test('moves between states exactly as its table defines', async (t) => {
  const moves = new Set(
    walked.edges
      .filter(({ from, to }) => stateOf(from) !== stateOf(to))
      .map((edge) => `${stateOf(edge.from)} ${eventOf(edge)} ${stateOf(edge.to)}`),
  );
  t.same(
    [...moves].sort(),
    [
      ...['done joining', 'done refused', 'DRAIN gone'].map((move) => `opening ${move}`),
      ...['done standby', 'done refused', 'error opening', 'DRAIN gone'].map((move) => `joining ${move}`),
      ...['CLAIMED loading', 'FENCED fenced', 'DRAIN gone'].map((move) => `standby ${move}`),
      ...['done active', 'done isolated', 'error fenced', 'DRAIN draining', 'DRAIN fenced'].map(
        (move) => `loading ${move}`,
      ),
      ...['active RENEWAL_FAILED doubtful', 'active COMMIT_UNKNOWN doubtful', 'doubtful RENEWED active'],
      ...['active LEASE_OVER isolated', 'doubtful LEASE_OVER isolated', 'isolated RENEWED active'],
      ...['active DRAIN draining', 'doubtful DRAIN draining', 'isolated DRAIN fenced'],
      'draining LEASE_OVER fenced',
      ...['loading', 'active', 'doubtful', 'isolated', 'draining'].flatMap((state) => [
        `${state} FENCED fenced`,
        `${state} COPY_BROKEN fenced`,
      ]),
      ...['done joining', 'done gone', 'error gone', 'after joining', 'DRAIN gone'].map(
        (move) => `fenced ${move}`,
      ),
      ...['draining done gone', 'draining error fenced'],
    ].sort(),
  );
});

t.test('serves requests only while its lease is known to last', async (t) => {
  for (const { to } of walked.edges)
    t.equal(to.hasTag('serves'), ['active', 'doubtful'].includes(stateOf(to)), pathOf(to));
});

t.test('suspends the service when it is isolated, and resumes it after a renewal only', async (t) => {
  for (const edge of walked.edges) {
    const isolates = stateOf(edge.to) === 'isolated' && stateOf(edge.from) !== 'isolated';
    t.equal(edge.actions.includes('suspend'), isolates);
    const resumes = stateOf(edge.from) === 'isolated' && edge.event.type === 'RENEWED';
    t.equal(edge.actions.includes('resume'), resumes);
  }
});

t.test('a load continues behind the end of its lease, until the membership has ended', async (t) => {
  for (const { from, event, to } of edgesFrom('loading')) {
    if (event.type === 'LEASE_OVER') t.match(to.context, { isLeaseOver: true }, pathOf(to));
    if (event.type === 'RENEWED') t.match(to.context, { isLeaseOver: false }, pathOf(to));
    if (['LEASE_OVER', 'RENEWED'].includes(event.type)) t.equal(stateOf(to), 'loading');
    if (event.type === 'xstate.done.actor.load')
      t.equal(stateOf(to), from.context.isLeaseOver ? 'isolated' : 'active');
    if (event.type === 'DRAIN') t.equal(stateOf(to), from.context.isLeaseOver ? 'fenced' : 'draining');
  }
});

t.test('never joins again once it leaves', async (t) => {
  const leaving = walked.edges.filter(({ from }) => from.context.isLeaving);
  t.ok(leaving.length > 0);
  for (const { to } of leaving)
    t.ok(['draining', 'fenced', 'gone'].includes(stateOf(to)), `${pathOf(to)} leads to the end`);
});

t.test('joins again after a pause when its copy was the cause', async (t) => {
  for (const { from, event, to } of edgesFrom('fenced')) {
    if (event.type !== 'xstate.done.actor.release' || from.context.isLeaving) continue;
    t.equal(pathOf(to), from.context.isCopyBroken ? 'fenced.pausing' : 'joining');
  }
});

t.test('a final state accepts no event', async (t) => {
  const ends = walked.edges.filter(({ to }) => to.status === 'done');
  t.same(new Set(ends.map(({ to }) => stateOf(to))), new Set(['gone', 'refused']));
  t.same(
    ends.flatMap(({ late }) => late),
    [],
  );
  const state: MemberView['state'] = 'gone';
  t.ok(ends.some(({ to }) => stateOf(to) === state));
});
