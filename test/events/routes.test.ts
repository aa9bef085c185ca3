import t from 'tap';
import type { EventFeed } from '../../src/events/feed.ts';
import type { EventReader } from '../../src/events/follower.ts';
import { createAccess } from '../../src/identity/access/access.ts';
import { eventRoutes } from '../../src/routes/events.ts';
import { get, serve, turn, wire } from '../http/serve.ts';
import { storeFor } from '../store/open.ts';
import { event } from '../store/records.ts';
import { startFeed } from './reader.ts';

/** The event routes on a real server, without the rest of the service. */

t.test('registers no event routes without a feed', async (t) => {
  const { url } = await serve(t, eventRoutes({ access: createAccess(await storeFor(t)) }));
  for (const path of ['/v1/threads/T/events', '/v1/runs/r/events/stream']) {
    t.equal((await fetch(url + path)).status, 404);
  }
});

t.test('sends the rest of a partial write without another event', async (t) => {
  const { feed, store, commit } = await startFeed(t);
  const readers: EventReader[] = [];
  const watched: EventFeed = {
    ...feed,
    follow(scope, by, cursor, reader) {
      readers.push(reader);
      feed.follow(scope, by, cursor, reader);
    },
  };
  const { port } = await serve(t, eventRoutes({ events: watched, access: createAccess(store) }));
  const client = wire(t, port, get('/v1/threads/t1/events/stream'));
  await client.until(': from cur_0\n\n');
  client.socket.pause();
  let events = 0;
  while (!readers[0]?.stalled) {
    events += 1;
    (
      await commit([
        { ...event(`e${events}`), payload: { text: 'x'.repeat(200_000), end: `end ${events};` } },
      ])
    )();
    await turn();
  }
  client.socket.resume();
  const text = await client.until(`end ${events};`);
  t.equal(text.match(/\nid: cur_/g)?.length, events);
});

t.test('stops following for a disconnected client', async (t) => {
  const { feed, store, append } = await startFeed(t);
  const { port, streams } = await serve(t, eventRoutes({ events: feed, access: createAccess(store) }));
  const client = wire(t, port, get('/v1/threads/t1/events/stream'));
  await client.until(': from cur_0\n\n');
  await append(1);
  await client.until('"event_id":"e1"');
  client.socket.destroy();
  while (streams() > 0) await turn();
  await append(1);
  const before = store.reads;
  feed.appended('default', 't1', 3, [event('e3')]);
  t.equal(store.reads, before);
});
