import t from 'tap';
import type { AnyMachineSnapshot } from 'xstate';
import { dispatchMachine } from '../../machines/index.ts';
import { type Edge, pathOf, untaken, type Walk, walk } from './walk.ts';

const EPOCH = 3;
const NEWER = EPOCH + 1;
const MAX_ATTEMPTS = 3;
const HOW = ['consumed', 'failed', 'exhausted'];
const FENCED = ['CLAIM', 'ACK', 'NACK', 'DEAD_LETTER', 'LEASE_EXPIRED', 'RELEASE'];
const ENDS = ['acked', 'cancelled', 'deadLetter', 'superseded'];

const events = [
  ...FENCED.flatMap((type) => [EPOCH, NEWER].map((threadEpoch) => ({ type, threadEpoch }))),
  ...HOW.flatMap((how) => [EPOCH, NEWER].map((threadEpoch) => ({ type: 'RUN_ENDED', threadEpoch, how }))),
  { type: 'RENEW' },
  { type: 'CANCEL' },
  { type: 'SUPERSEDE' },
];

const walkDispatch = (): Promise<Walk> =>
  walk(dispatchMachine, { input: { attemptCount: 0, maxAttempts: MAX_ATTEMPTS, epoch: EPOCH }, events });

const attempts = ({ context }: AnyMachineSnapshot): number => context.attemptCount;
const isLegal = ({ taken }: Edge): boolean => taken.length > 0;
const isStale = ({ event }: Edge): boolean => event.threadEpoch === NEWER;

t.test('moves between statuses exactly as its table defines', async (t) => {
  const { edges } = await walkDispatch();
  const moves = new Set(
    edges.filter(isLegal).map(({ from, event, to }) => `${pathOf(from)} ${event.type} ${pathOf(to)}`),
  );
  t.same(
    [...moves].sort(),
    [
      'queued CLAIM claimed',
      'queued CLAIM superseded',
      'queued CANCEL cancelled',
      'queued SUPERSEDE superseded',
      'queued RUN_ENDED cancelled',
      'queued RUN_ENDED superseded',
      'claimed RENEW claimed',
      'claimed ACK acked',
      'claimed ACK superseded',
      'claimed NACK queued',
      'claimed NACK deadLetter',
      'claimed NACK superseded',
      'claimed LEASE_EXPIRED queued',
      'claimed LEASE_EXPIRED deadLetter',
      'claimed LEASE_EXPIRED superseded',
      'claimed RELEASE queued',
      'claimed RELEASE superseded',
      'claimed DEAD_LETTER deadLetter',
      'claimed DEAD_LETTER superseded',
      'claimed SUPERSEDE superseded',
      'claimed RUN_ENDED acked',
      'claimed RUN_ENDED deadLetter',
      'claimed RUN_ENDED superseded',
    ].sort(),
  );
});

t.test('supersedes a claim of an older epoch on any event', async (t) => {
  const { edges } = await walkDispatch();
  const stale = edges.filter((edge) => isStale(edge) && isLegal(edge) && pathOf(edge.from) === 'claimed');
  const fenced = [...FENCED.filter((type) => type !== 'CLAIM'), 'RUN_ENDED'];
  t.same(new Set(stale.map(({ event }) => event.type)), new Set(fenced));
  for (const { to } of stale) t.equal(pathOf(to), 'superseded');
});

t.test('never claims a dispatch of an older epoch', async (t) => {
  const { edges } = await walkDispatch();
  const claims = edges.filter((edge) => isStale(edge) && isLegal(edge) && edge.event.type === 'CLAIM');
  t.ok(claims.length > 0);
  for (const { to } of claims) t.equal(pathOf(to), 'superseded');
});

t.test('counts an attempt exactly when one fails', async (t) => {
  const { edges } = await walkDispatch();
  for (const edge of edges) {
    const isFailure =
      ['NACK', 'LEASE_EXPIRED'].includes(edge.event.type) ||
      (edge.event.how === 'exhausted' && pathOf(edge.from) === 'claimed');
    const failed = isLegal(edge) && !isStale(edge) && isFailure;
    t.equal(attempts(edge.to) - attempts(edge.from), failed ? 1 : 0, edge.event.type);
  }
});

t.test('queues a failed dispatch again until its attempts are exhausted', async (t) => {
  const { edges } = await walkDispatch();
  const failed = edges.filter(
    (edge) => isLegal(edge) && !isStale(edge) && ['NACK', 'LEASE_EXPIRED'].includes(edge.event.type),
  );
  t.same([...new Set(failed.map(({ to }) => attempts(to)))].sort(), [1, 2, MAX_ATTEMPTS]);
  for (const { to } of failed) {
    t.equal(pathOf(to), attempts(to) < MAX_ATTEMPTS ? 'queued' : 'deadLetter');
  }
});

t.test('settles a claimed dispatch by the end of its run', async (t) => {
  const { edges } = await walkDispatch();
  const ended = edges.filter(({ event, from }) => event.type === 'RUN_ENDED' && pathOf(from) === 'claimed');
  const moves = new Set(ended.map((edge) => `${isStale(edge) ? 'late' : edge.event.how} ${pathOf(edge.to)}`));
  t.same(moves, new Set(['late superseded', 'consumed acked', 'failed deadLetter', 'exhausted deadLetter']));
});

t.test('never leaves a terminal status', async (t) => {
  const { edges } = await walkDispatch();
  const ended = edges.filter(({ to }) => to.status === 'done');
  t.same([...new Set(ended.map(({ to }) => pathOf(to)))].sort(), ENDS);
  for (const { late } of ended) t.same(late, []);
});

t.test('covers every transition of the machine', async (t) => {
  const walked = await walkDispatch();
  t.same(untaken(walked.description, [walked]), []);
});
