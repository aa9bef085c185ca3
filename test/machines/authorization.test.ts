import t from 'tap';
import { expiryOfTry, OFFER_LIMIT_MS, START_LIMIT_MS } from '../../machines/authorization.ts';
import { authorizationMachine } from '../../machines/index.ts';
import { pathOf, untaken, walk } from './walk.ts';

const walked = await walk(authorizationMachine, {
  events: [
    { type: 'START' },
    { type: 'CODE' },
    { type: 'REFUSED' },
    { type: 'TOKENS', isKnown: true },
    { type: 'TOKENS', isKnown: false },
    { type: 'FAILED' },
    { type: 'CONFIRM' },
    { type: 'EXPIRE' },
  ],
});
const { edges } = walked;
const legal = edges.filter(({ taken }) => taken.length > 0);

t.test('moves between states exactly as its table defines', async (t) => {
  const moves = new Set(legal.map(({ from, event, to }) => `${pathOf(from)} ${event.type} ${pathOf(to)}`));
  t.same(
    [...moves].sort(),
    [
      'offered START redirected',
      'offered EXPIRE expired',
      'redirected START redirected',
      'redirected CODE exchanging',
      'redirected REFUSED declined',
      'redirected FAILED failed',
      'redirected EXPIRE expired',
      'exchanging TOKENS connected',
      'exchanging TOKENS unconfirmed',
      'exchanging FAILED failed',
      'exchanging EXPIRE expired',
      'unconfirmed START redirected',
      'unconfirmed CONFIRM connected',
      'unconfirmed FAILED failed',
      'unconfirmed EXPIRE expired',
    ].sort(),
  );
  t.same(untaken(walked.description, [walked]), []);
});

t.test('connects only in a browser of the same user, or after the user has confirmed', async (t) => {
  const arrivals = legal.filter(({ to }) => to.value === 'connected');
  t.ok(arrivals.length > 0);
  for (const { from, event } of arrivals) {
    if (from.value === 'exchanging') t.match(event, { type: 'TOKENS', isKnown: true });
    else t.match({ from: from.value, type: event.type }, { from: 'unconfirmed', type: 'CONFIRM' });
  }
});

t.test('can expire in every state that is not final', async (t) => {
  const unfinished = new Set(
    edges.filter(({ from }) => from.status === 'active').map(({ from }) => pathOf(from)),
  );
  t.same([...unfinished].sort(), ['exchanging', 'offered', 'redirected', 'unconfirmed']);
  for (const state of unfinished) {
    t.ok(legal.some(({ from, to }) => pathOf(from) === state && to.value === 'expired'));
    t.ok(edges.find(({ from }) => pathOf(from) === state)?.from.hasTag('open'));
  }
});

t.test('accepts no event after its end', async (t) => {
  const ends = legal.filter(({ to }) => to.status === 'done');
  t.same(new Set(ends.map(({ to }) => to.value)), new Set(['connected', 'declined', 'failed', 'expired']));
  for (const { late } of ends) t.same(late, []);
});

t.test('limits a try to 10 minutes after its start, and to a day after its offer', async (t) => {
  const offered_at = 1000;
  t.equal(expiryOfTry({ offered_at }), offered_at + 86_400_000);
  t.equal(expiryOfTry({ offered_at, started_at: 2000 }), 2000 + 600_000);
  const late = offered_at + OFFER_LIMIT_MS - START_LIMIT_MS + 1;
  t.equal(expiryOfTry({ offered_at, started_at: late }), offered_at + OFFER_LIMIT_MS);
});
