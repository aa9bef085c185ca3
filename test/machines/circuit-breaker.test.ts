import t from 'tap';
import { createActor } from 'xstate';
import { circuitBreakerMachine } from '../../machines/index.ts';
import fc from '../random.ts';
import { pathOf, untaken, type Walk, walk } from './walk.ts';

const THRESHOLD = 3;
const COOLDOWN = 30;
const BURST = 3;
const TIMES = [0, BURST, 2 * BURST, COOLDOWN - 1, COOLDOWN, 2 * COOLDOWN];

const events = [
  { type: 'SUCCEED' },
  { type: 'ABANDON' },
  ...TIMES.flatMap((at) => [
    ...['a', 'b', 'c'].map((by) => ({ type: 'FAIL', at, by, cause: `failure of ${by}` })),
    { type: 'PROBE', at },
  ]),
];

const walkBreaker = (): Promise<Walk> =>
  walk(circuitBreakerMachine, {
    input: { threshold: THRESHOLD, cooldownMs: COOLDOWN, burstMs: BURST },
    events,
  });

t.test('moves between states exactly as its table defines', async (t) => {
  const { edges } = await walkBreaker();
  const moves = new Set(
    edges
      .filter(({ taken }) => taken.length > 0)
      .map(({ from, event, to }) => `${pathOf(from)} ${event.type} ${pathOf(to)}`),
  );
  t.same(
    [...moves].sort(),
    [
      'closed SUCCEED closed',
      'closed FAIL closed',
      'closed FAIL open',
      'open PROBE halfOpen',
      'halfOpen SUCCEED closed',
      'halfOpen FAIL open',
      'halfOpen ABANDON open',
    ].sort(),
  );
});

t.test('lets a probe pass only after the cooldown since it last opened', async (t) => {
  const { edges } = await walkBreaker();
  const probes = edges.filter(({ from, event }) => pathOf(from) === 'open' && event.type === 'PROBE');
  t.ok(probes.length > 0);
  for (const { from, event, to } of probes) {
    const over = event.at - from.context.openedAt >= COOLDOWN;
    t.equal(pathOf(to), over ? 'halfOpen' : 'open');
  }
});

t.test('covers every transition of the machine', async (t) => {
  const walked = await walkBreaker();
  t.same(untaken(walked.description, [walked]), []);
});

t.test('a threshold of 0 never opens the breaker', async (t) => {
  const input = { threshold: 0, cooldownMs: COOLDOWN, burstMs: 0 };
  const actor = createActor(circuitBreakerMachine, { input }).start();
  for (let at = 0; at < 50; at += 1) actor.send({ type: 'FAIL', at, by: `r${at}`, cause: 'why' });
  t.equal(actor.getSnapshot().value, 'closed');
});

t.test('is open exactly as a reference count of failed callers and a clock predict', async () => {
  const event = fc.oneof(
    { weight: 5, arbitrary: fc.constant('FAIL' as const) },
    { weight: 1, arbitrary: fc.constantFrom('SUCCEED' as const, 'ABANDON' as const) },
    { weight: 3, arbitrary: fc.constant('PROBE' as const) },
  );
  const by = fc.constantFrom('a', 'b', 'c', 'd');
  const happening = fc.tuple(event, fc.integer({ min: 0, max: 20 }), by);
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (happened) => {
      const actor = createActor(circuitBreakerMachine, {
        input: { threshold: THRESHOLD, cooldownMs: COOLDOWN, burstMs: BURST },
      }).start();
      const model = { state: 'closed', row: new Set<string>(), countedAt: -BURST, openedAt: 0 };
      let at = 0;
      for (const [type, passed, by] of happened) {
        at += passed;
        actor.send({ type, at, by, cause: 'why' });
        happen(model, type, at, by);
        if (actor.getSnapshot().value !== model.state) return false;
      }
      return true;
    }),
  );
});

type Counted = { state: string; row: Set<string>; countedAt: number; openedAt: number };

const happen = (model: Counted, type: string, at: number, by: string): void => {
  const { state } = model;
  if (type === 'FAIL' && state !== 'open') {
    const counts = at >= model.countedAt + BURST && !model.row.has(by);
    if (counts && state === 'closed') {
      model.row.add(by);
      model.countedAt = at;
    }
    const opens = state === 'halfOpen' || model.row.size >= THRESHOLD;
    if (opens) Object.assign(model, { state: 'open', openedAt: at, row: new Set() });
  }
  if (type === 'SUCCEED' && state !== 'open') Object.assign(model, { state: 'closed', row: new Set() });
  if (type === 'ABANDON' && state === 'halfOpen') model.state = 'open';
  if (type === 'PROBE' && state === 'open' && at - model.openedAt >= COOLDOWN) model.state = 'halfOpen';
};
