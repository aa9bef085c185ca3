import { createWebSocketInspector } from '@statelyai/inspect';
import t, { type Test } from 'tap';
import { type AnyStateMachine, createActor } from 'xstate';
import { startTroupe } from '../service/troupe.ts';
import { type Frame, type House, openHouse } from './house.ts';
import { payment, shop } from './machines.ts';
import { testOnEach } from './servers.ts';

/** Programs that report through the public client, like programs of users. */

const report = (t: Test, house: House, machine: AnyStateMachine, path = '') => {
  const inspector = createWebSocketInspector({ url: `${house.address}${path}` });
  t.teardown(() => inspector.stop());
  const actor = createActor(machine, { inspect: inspector.inspect });
  return { actor, inspector };
};

const steps = (frames: readonly Frame[]) => frames.filter(({ type }) => type === 'transition');

testOnEach(
  t,
  'shows a program with its laid-out machines, its actors, and all of their transitions',
  async (t, server) => {
    const house = await openHouse(t, server);
    const frames = await house.follow(t);
    const { actor } = report(t, house, shop, '/corner%20shop');
    actor.start();
    const { items } = await house.until((list) => list.items.some(({ actors }) => actors === 1));
    t.match(items, [
      { id: '1', name: 'corner shop', connected: true, actors: 1, refused: { count: 0, last: null } },
    ]);

    const { charts, states } = await house.chart('1', 'shop');
    t.equal(states, 11);
    t.match(charts, { name: 'shop', description: 'A shop of somebody else.' });
    t.equal(charts?.levels.length, 3, 'charts are reported at every depth');
    const deepest = charts?.levels.at(-1);
    const drawn = new Set(deepest?.arrows.flatMap(({ transitions }) => transitions));
    t.ok(deepest?.states.every(({ width, height }) => width > 0 && height > 0));

    actor.send({ type: 'ADD' });
    actor.send({ type: 'CHECK' });
    const seen = await frames.until(({ type, machine }) => type === 'began' && machine === '1/payment');
    const browsing = 'browsing\u00a0the\u00a0shelves';
    t.match(seen[0], { type: 'began', machine: '1/shop', state: browsing, tags: ['open'], parent: null });
    const taken = steps([...seen, ...(await frames.until(({ event }) => event === 'always'))]);
    t.match(taken, [
      { event: 'ADD', from: browsing, to: browsing },
      { event: 'CHECK', from: browsing, to: 'paying.goods.shelf paying.money.due' },
      { event: 'always', to: 'paying.goods.shelf paying.money.due' },
    ]);
    for (const { transition } of taken.slice(1)) t.ok(drawn.has(String(transition)), String(transition));

    await house.until((list) => list.items[0]?.actors === 3);
    const all = await house.actors('1');
    t.match(
      all.map(({ machine }) => machine).sort(),
      ['1/others', '1/payment', '1/shop'],
      'a promise has no states',
    );
    const [root] = all;
    t.ok(all.slice(1).every(({ parent }) => parent === root?.id));
    t.strictSame(
      root?.children.slice().sort(),
      all
        .slice(1)
        .map(({ id }) => id)
        .sort(),
    );

    actor.send({ type: 'PACK' });
    actor.getSnapshot().children.payment?.send({ type: 'CONFIRM' });
    const rest = await frames.until(({ type, machine }) => type === 'ended' && machine === '1/payment');
    t.match(
      steps(rest).map(({ machine, event, to }) => `${machine} ${event} ${to}`),
      [
        '1/shop PACK paying.goods.box paying.money.due',
        '1/others xstate.stop stopped',
        '1/shop done.payment closed',
        '1/shop done closed',
        '1/payment CONFIRM paid',
      ],
      'the transition of the parent precedes the end of its child',
    );
    t.notMatch(
      JSON.stringify([seen, rest, await house.list()]),
      /sk-of-the-shop/,
      'context is not forwarded',
    );
  },
);

testOnEach(
  t,
  'separates the reports of two programs, and removes the actors of one that leaves',
  async (t, server) => {
    const house = await openHouse(t, server);
    const one = report(t, house, payment, '/one');
    one.actor.start();
    await house.until(({ items }) => items.length === 1 && items[0]?.actors === 1);
    const other = report(t, house, payment);
    other.actor.start();
    await house.until(({ items }) => items.length === 2 && items[1]?.actors === 1);
    t.match(await house.chart('2', 'payment'), { chart: 'drawn' });
    const frames = await house.follow(t, '2/payment');
    t.match(await frames.until(() => true), [{ type: 'actor', machine: '2/payment', state: 'asked' }]);
    one.actor.send({ type: 'CONFIRM' });
    await house.until(({ items }) => items[0]?.actors === 0);
    other.inspector.stop();
    t.match(await frames.until(() => true), [{ type: 'ended', machine: '2/payment', state: 'asked' }]);
    const { items } = await house.list();
    t.match(items, [
      { name: 'one', connected: true },
      { name: 'payment', connected: false, actors: 0 },
    ]);
    t.match(
      await house.chart('2', 'payment'),
      { chart: 'drawn' },
      'the chart of an ended actor is available',
    );
  },
);

testOnEach(t, 'listens only if configured, and only on an address of this host', async (t, server) => {
  const troupe = await startTroupe(t);
  t.match((await troupe.admin('GET', '/v1/system/programs')).body, { url: null, items: [] });
  t.match(await troupe.call('GET', '/v1/system/programs'), { status: 401 });
  t.match(await troupe.admin('GET', '/v1/system/programs/1/actors'), { status: 404 });
  t.match(await troupe.admin('GET', '/v1/system/programs/1/machines/x'), { status: 404 });
  await t.rejects(
    startTroupe(t, { settings: { inspection_addr: '0.0.0.0:0' } }),
    /inspection_addr.*127\.0\.0\.1/s,
  );
  await t.test('an address in use stops the start', async (t) => {
    const house = await openHouse(t, server);
    const taken = house.address.replace('ws://', '');
    await t.test('of another service', async (t) => {
      await t.rejects(
        startTroupe(t, { settings: { inspection_addr: taken, http_server: server } }),
        /cannot listen on 127.0.0.1:\d+: the address is in use: choose another port, or 0 for any free one/,
      );
    });
  });
});
