import t from 'tap';
import { LIMITS } from '../../src/programs/limits.ts';
import { closed, createPrograms, follow, fullness, opened, received } from '../../src/programs/programs.ts';
import { createFollower } from '../inspection/actors.ts';
import { eventually } from '../service/troupe.ts';
import { openHouse } from './house.ts';
import { connectPeer, type Peer } from './peer.ts';
import { testOnEach } from './servers.ts';

/** Programs that send too much, false or unreadable data, come from another origin, or leave without a close. */

const DOOR = JSON.stringify({
  id: 'door',
  initial: 'shut',
  states: { shut: { on: { OPEN: 'open' } }, open: { on: { SHUT: 'shut' } } },
});

const began = (sessionId: string, definition?: string, more: object = {}) => ({
  type: '@xstate.actor',
  sessionId,
  name: sessionId,
  definition,
  snapshot: { status: 'active', value: 'shut', context: {} },
  createdAt: '1',
  _version: '0.7.2',
  ...more,
});

const moved = (sessionId: string, value: unknown, event = 'OPEN', more: object = {}) => ({
  type: '@xstate.snapshot',
  sessionId,
  event: { type: event },
  snapshot: { status: 'active', value },
  ...more,
});

const REFUSED = [
  ['{"type":', /not JSON/],
  ['[1]', /not of the protocol/],
  ['"text"', /not of the protocol/],
  ['{"type":"hello"}', /not of the protocol: type/],
  [JSON.stringify({ type: '@xstate.actor' }), /sessionId is missing/],
  [JSON.stringify(began('x'.repeat(LIMITS.name + 1))), /sessionId/],
  [JSON.stringify(moved('d', 7)), /no state/],
  [JSON.stringify(moved('d', { ['x'.repeat(LIMITS.state)]: 'y' })), /no state/],
  [
    `{"type":"@xstate.snapshot","sessionId":"d","snapshot":{"value":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}}`,
    /no state/,
  ],
  [`"${'x'.repeat(LIMITS.messageBytes)}"`, /more than 1024 KiB/],
] as const;

testOnEach(t, 'counts invalid messages with their reason, and loses nothing', async (t, server) => {
  const house = await openHouse(t, server);
  const peer = await connectPeer(t, house.address);
  t.match(peer.head, 'HTTP/1.1 101');
  peer.tell(began('d', DOOR));
  let count = 0;
  for (const [text, reason] of REFUSED) {
    peer.send(text);
    count += 1;
    const { items } = await house.until((list) => list.items[0]?.refused.count === count);
    t.match(items[0]?.refused.last, reason);
  }
  peer.send(JSON.stringify(moved('d', 'open')), 2);
  t.match(
    (await house.until(({ items }) => items[0]?.refused.count === count + 1)).items[0]?.refused.last,
    /binary/,
  );
  for (const type of ['@xstate.microstep', '@xstate.action', '@xstate.event'])
    peer.tell({ type, sessionId: 'd' });
  peer.tell(moved('d', 'open'));
  peer.tell(began('last'));
  const { items } = await house.until((list) => list.items[0]?.actors === 2);
  t.equal(items[0]?.refused.count, count + 1, 'inspection events without a use are ignored, not refused');
  t.match(await house.actors('1'), [
    { id: '1:d', state: 'open' },
    { id: '1:last', machine: '1/others' },
  ]);
});

testOnEach(t, 'accepts only programs and pages of this host', async (t, server) => {
  const house = await openHouse(t, server);
  const statusOf = async (headers: Record<string, string>) =>
    (await connectPeer(t, house.address, { headers })).head.split('\r\n', 1)[0];
  for (const origin of [
    'https://evil.example',
    'http://localhost.evil.example',
    'null',
    'http://192.168.0.9:3000',
  ])
    t.match(await statusOf({ origin }), '403', origin);
  for (const host of ['evil.example', 'rebound.example:38081', '192.168.0.9', ''])
    t.match(await statusOf({ host }), /40[03]/, host);
  t.equal((await house.list()).items.length, 0);
  for (const origin of ['http://localhost:5173', 'http://127.0.0.1:3000', 'https://app.localhost'])
    t.match(await statusOf({ origin }), '101', origin);
  t.match(await statusOf({ host: 'localhost:38081' }), '101');
  const answer = await fetch(`${house.address.replace('ws', 'http')}/v1/system/programs`);
  t.equal(answer.status, 426, 'the path serves no other requests');
  t.match(await answer.text(), /WebSocket/);
});

testOnEach(
  t,
  'rejects programs, actors, machines and definitions beyond the limits, and serves the others',
  async (t, server) => {
    const house = await openHouse(t, server);
    const peers: Peer[] = [];
    for (let n = 0; n < LIMITS.programs; n += 1)
      peers.push(await connectPeer(t, house.address, { path: `/p${n}` }));
    const late = await connectPeer(t, house.address);
    t.match(late.head, /^HTTP\/1.1 503.*8 programs report already/s);
    const [first, second, third] = peers;
    for (let n = 0; n < LIMITS.actors + 3; n += 1) first?.tell(began(`a${n}`, DOOR));
    const full = await house.until(({ items }) => (items[0]?.refused.count ?? 0) >= 3);
    t.match(full.items[0], {
      actors: LIMITS.actors,
      refused: { count: 3, last: 'more than 500 actors at a time' },
    });
    first?.tell(moved('a0', 'open', 'OPEN', { snapshot: { status: 'done', value: 'open' } }));
    first?.tell(began('next', DOOR));
    // The number of actors is the same before and after.
    const [newest] = await eventually(
      async () => (await house.actors('1')).slice(-1),
      ([actor]) => actor?.id === '1:next',
    );
    t.match(newest, { id: '1:next', machine: '1/door', state: 'shut' });

    for (let n = 0; n < LIMITS.machines + 2; n += 1)
      second?.tell(began(`m${n}`, DOOR.replace('door', `door${n}`)));
    const many = await house.until(({ items }) => items[1]?.actors === LIMITS.machines + 2);
    t.equal(many.items[1]?.machines.length, LIMITS.machines + 1);
    t.match(many.items[1]?.machines.at(-1), { name: 'others', chart: 'none', problem: /16 machines/ });

    const states = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, {}]));
    const deep = (depth: number): object =>
      depth === 0 ? {} : { initial: 'a', states: { a: deep(depth - 1) } };
    const undrawable = [
      [
        'large',
        { id: 'large', description: 'x'.repeat(LIMITS.definitionBytes), states: { a: {} } },
        /256 KiB/,
      ],
      ['wide', { id: 'wide', states: states(LIMITS.states + 1) }, /100 states/],
      ['deep', { id: 'deep', ...deep(LIMITS.depth + 1) }, /10 deep/],
      ['deepest', { id: 'deepest', ...deep(2000) }, /10 deep/],
      ['lost', { id: 'lost', states: { a: { on: { GO: 'nowhere' } } } }, /XState refuses/],
      ['odd', { id: 'odd', initial: 'a', states: { a: { description: 7 } } }, /something else/],
      ['list', { id: 'list', states: { a: [] } }, /not an object/],
      ['own', { id: 'own', states: { constructor: {} } }, /constructor/],
    ] as const;
    for (const [name, definition] of undrawable) third?.tell(began(name, JSON.stringify(definition)));
    third?.tell(began('proto', '{"id":"proto","states":{"__proto__":{"on":{}}}}'));
    third?.tell(began('text', '{"states"'));
    const seen = await house.until(({ items }) => items[2]?.actors === undrawable.length + 2);
    const problems = new Map(seen.items[2]?.machines.map(({ name, problem }) => [name, problem]));
    for (const [name, , problem] of undrawable) t.match(problems.get(name), problem, name);
    t.match(problems.get('proto'), /__proto__/);
    t.match(problems.get('text'), /not JSON/);
    t.equal(Object.getOwnPropertyDescriptor(Object.prototype, 'on'), undefined);
    const frames = await house.follow(t, '3/wide');
    await frames.until(({ type }) => type === 'actor');
    third?.tell(moved('wide', 's7'));
    t.match(
      await frames.until(() => true),
      [{ type: 'transition', event: 'OPEN', to: 's7', transition: '' }],
      'transitions without a match are reported too',
    );
  },
);

testOnEach(t, 'limits a flood, and the service answers meanwhile', async (t, server) => {
  const house = await openHouse(t, server);
  const peer = await connectPeer(t, house.address);
  peer.tell(began('d', DOOR));
  const frames = await house.follow(t);
  await frames.until(({ id }) => id === '1:d');
  const context = 'x'.repeat(900 * 1024);
  const [shut = '', open = ''] = ['shut', 'open'].map((value) =>
    JSON.stringify(
      moved('d', value, value.toUpperCase(), { snapshot: { status: 'active', value, context } }),
    ),
  );
  const flood = (messages: number): void => {
    for (let n = 0; n < messages; n += 1) peer.send(n % 2 ? open : shut);
  };
  flood(60);
  t.equal((await house.troupe.call('GET', '/health/live')).status, 200);
  // A busy host may read the flood as slowly as the limit allows.
  const { items } = await house.until((list) => {
    const isRefused = (list.items[0]?.refused.count ?? 0) > 0;
    if (!isRefused) flood(6);
    return isRefused;
  });
  t.match(items[0]?.refused.last, /more than 4000 messages or 4 MiB in a second/);
  // Once the flood is read and the limit allows a message again, the next snapshot has the current state.
  let isSeen = false;
  const jumped = frames
    .until(({ event }) => event === 'JUMP')
    .finally(() => {
      isSeen = true;
    });
  while (!isSeen) {
    peer.tell(moved('d', { elsewhere: 'now' }, 'JUMP'));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  t.match((await jumped).at(-1), {
    to: 'elsewhere.now',
    transition: '',
  });
});

testOnEach(
  t,
  'disconnects after an endless message, and removes programs that leave early or at once',
  async (t, server) => {
    const house = await openHouse(t, server);
    const [endless, half, sudden] = [
      await connectPeer(t, house.address),
      await connectPeer(t, house.address),
      await connectPeer(t, house.address),
    ];
    for (const peer of [endless, half, sudden]) peer.tell(began('d', DOOR));
    await house.until(({ items }) => items.length === 3 && items.every(({ actors }) => actors === 1));
    endless.send('x'.repeat(LIMITS.cutBytes + 1));
    half.socket.end();
    sudden.socket.resetAndDestroy();
    await endless.closed;
    const { items } = await house.until((list) => list.items.every(({ connected }) => !connected));
    t.ok(items.every(({ actors }) => actors === 0));
    for (let n = 0; n < LIMITS.gone + 2; n += 1) {
      const peer = await connectPeer(t, house.address);
      peer.socket.destroy();
    }
    const left = await house.until(
      (list) => list.items.length === LIMITS.gone && list.items.every(({ connected }) => !connected),
    );
    t.notOk(
      left.items.some(({ id }) => id === '1'),
      'the oldest ended actors are removed',
    );
  },
);

t.test('a slow follower receives the current state of an actor, not its transitions', (t) => {
  const clock = { at: 1000, now: () => clock.at };
  const programs = createPrograms(clock);
  const program = opened(programs, 'unit');
  const tell = (message: object) => {
    const bytes = new TextEncoder().encode(JSON.stringify(message));
    received(programs, program, bytes);
  };
  const follower = createFollower();
  follow(programs, undefined, follower);
  tell(began('d', DOOR));
  t.match(follower.frames(), [{ type: 'began', state: 'shut' }]);
  follower.stalled = true;
  for (let n = 0; n < 1000; n += 1) tell(moved('d', n % 2 ? 'shut' : 'open', n % 2 ? 'SHUT' : 'OPEN'));
  t.match(follower.frames(), []);
  follower.drain();
  t.match(follower.frames(), [{ type: 'actor', state: 'shut' }]);
  for (let n = 0; n < LIMITS.burst.messages; n += 1) tell(moved('d', 'shut', 'NOTHING'));
  t.match(program, { refused: 1001, lastProblem: /messages/ });
  clock.at += 1000;
  tell(moved('d', 'open'));
  t.match(follower.frames(), [{ type: 'transition', event: 'OPEN', to: 'open' }]);
  t.end();
});

t.test('programs that reconnect repeatedly must wait', (t) => {
  const clock = { at: 1000, now: () => clock.at };
  const programs = createPrograms(clock);
  for (let n = 0; n < LIMITS.openings.burst; n += 1) {
    t.equal(fullness(programs), undefined);
    closed(programs, opened(programs, ''));
  }
  t.match(fullness(programs), /too often/);
  clock.at += 1000;
  t.equal(fullness(programs), undefined);
  opened(programs, '');
  t.match(fullness(programs), /too often/);
  t.end();
});
