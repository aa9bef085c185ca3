import t from 'tap';
import { advance, IllegalTransition, rememberingAdvance } from '../../machines/advance.ts';
import { dispatchMachine, runMachine, threadMachine, toolCallMachine } from '../../machines/index.ts';
import { BEGINNING } from '../../machines/run-types.ts';

const dispatch = { attemptCount: 0, maxAttempts: 2, epoch: 1 };
const run = {
  host: {},
  entry: 'inference',
  attempt: 0,
  maxAttempts: 5,
  maxHeldBackMs: 0,
  ...BEGINNING,
} as const;

t.test('returns the next state for a legal event', async (t) => {
  const next = advance(toolCallMachine, { value: 'suspended', context: {} }, { type: 'RESUME' });
  t.equal(next.value, 'resuming');
  t.equal(next.status, 'active');
});

t.test(
  'applies the actions of a transition to a new context, and leaves the stored one unchanged',
  async (t) => {
    const stored = { value: 'claimed', context: dispatch };
    const next = advance(dispatchMachine, stored, { type: 'NACK', threadEpoch: 1 });
    t.equal(next.value, 'queued');
    t.equal(next.context.attemptCount, 1);
    t.same(stored, { value: 'claimed', context: { attemptCount: 0, maxAttempts: 2, epoch: 1 } });
  },
);

t.test('passes the event and the stored context to guards', async (t) => {
  const lead = (attemptCount: number, threadEpoch: number) =>
    advance(
      dispatchMachine,
      { value: 'claimed', context: { ...dispatch, attemptCount } },
      { type: 'LEASE_EXPIRED', threadEpoch },
    ).value;
  t.equal(lead(0, 1), 'queued');
  t.equal(lead(1, 1), 'deadLetter');
  t.equal(lead(0, 2), 'superseded');
});

t.test('starts from a nested state', async (t) => {
  const next = advance(
    runMachine,
    { value: { waiting: { forInput: 'parked' } }, context: run },
    { type: 'RESUME' },
  );
  t.same(next.value, { running: 'deciding' });
  t.ok(next.hasTag('running'));
});

t.test('passes through states with immediate transitions', async (t) => {
  const places = { inference: 'inferring', unfinished_calls: 'acting', decisions: 'deciding' } as const;
  for (const entry of ['inference', 'unfinished_calls', 'decisions'] as const) {
    const next = advance(runMachine, { value: 'created', context: { ...run, entry } }, { type: 'CLAIM' });
    t.same(next.value, { running: places[entry] });
  }
});

t.test('accepts a transition within a state', async (t) => {
  const next = advance(runMachine, { value: { running: 'acting' }, context: run }, { type: 'STEER' });
  t.same(next.value, { running: 'acting' });
  t.equal(next.context.steered, true);
});

t.test('rejects an event that the state does not accept, and names it', async (t) => {
  const attempt = () => advance(toolCallMachine, { value: 'suspended', context: {} }, { type: 'SUCCEED' });
  t.throws(attempt, IllegalTransition);
  t.throws(attempt, { message: `tool-call: 'SUCCEED' is not allowed in state '"suspended"'` });
});

t.test('rejects an event that every guard rejects', async (t) => {
  t.throws(
    () => advance(threadMachine, { value: 'idle', context: { host: {} } }, { type: 'WAKE' }),
    IllegalTransition,
  );
});

t.test('rejects every event in a final state', async (t) => {
  for (const value of ['acked', 'cancelled', 'superseded', 'deadLetter']) {
    const attempt = () =>
      advance(dispatchMachine, { value, context: dispatch }, { type: 'ACK', threadEpoch: 1 });
    t.throws(attempt, IllegalTransition, value);
  }
});

t.test('reuses a cached result, and limits the number of cached results', async (t) => {
  const next = rememberingAdvance(dispatchMachine);
  const ask = (attemptCount: number) =>
    next({ value: 'queued', context: { ...dispatch, attemptCount } }, { type: 'CLAIM', threadEpoch: 1 });
  const first = ask(0);
  t.equal(first.value, 'claimed');
  ask(1);
  t.equal(ask(0), first);
  for (let other = 2; other <= 1000; other += 1) ask(other);
  t.not(ask(0), first, 'the oldest result was evicted');
});
