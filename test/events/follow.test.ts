import t from 'tap';
import { settle, turn, when } from '../http/serve.ts';
import { event } from '../store/records.ts';
import { createReader, ids, startFeed } from './reader.ts';

/** runtime.md 13.2: replay, then live events, without gaps or duplicates, for a reader of any speed. */

const THREAD = { thread_id: 't1' };
const RUN = { run_id: 'r1' };

t.test('sends events appended during a replay after it, once', async (t) => {
  const { feed, append } = await startFeed(t);
  for (let commit = 0; commit < 20; commit += 1) await append(100, 'r1');
  const [first] = feed.list('default', THREAD, undefined, 1).items;
  const cursor = first?.cursors_by_scope[0]?.cursor ?? '';
  const [ofThread, ofRun] = [createReader(), createReader()];
  feed.follow('default', THREAD, cursor, ofThread);
  feed.follow('default', RUN, cursor, ofRun);
  for (let commit = 0; commit < 30; commit += 1) await append(10, 'r1');
  await when(() => ofThread.seen().length >= 2299 && ofRun.seen().length >= 2299);
  await append(1, 'r1');
  t.strictSame(ofThread.seen(), ids(2, 2301));
  t.strictSame(ofRun.seen(), ids(2, 2301));
});

t.test('sends only new events without a cursor, and only its own for a run', async (t) => {
  const { feed, append } = await startFeed(t);
  await append(3, 'r1');
  const [ofThread, ofRun] = [createReader(), createReader()];
  feed.follow('default', THREAD, feed.end('default', THREAD), ofThread);
  feed.follow('default', RUN, feed.end('default', RUN), ofRun);
  await append(1);
  await append(2, 'r1');
  await append(1, 'r2');
  await append(1, 'r1');
  await settle();
  t.strictSame(ofThread.seen(), ids(4, 8));
  t.strictSame(ofRun.seen(), ['e5', 'e6', 'e8']);
});

t.test('sends the whole log to a reader that follows it before its first event', async (t) => {
  const { feed, append } = await startFeed(t);
  const readers = [THREAD, RUN].map((by) => {
    const reader = createReader();
    feed.follow('default', by, feed.end('default', by), reader);
    return reader;
  });
  await append(2, 'r1');
  await settle();
  await append(2, 'r1');
  for (const reader of readers) t.strictSame(reader.seen(), ids(1, 4));
});

t.test('sends the cursor as id and the event as data, without an event line', async (t) => {
  const { feed, append } = await startFeed(t);
  const reader = createReader();
  feed.follow('default', RUN, feed.end('default', RUN), reader);
  await append(1, 'r1');
  await settle();
  const { items } = feed.list('default', RUN, undefined, 1);
  const cursor = items[0]?.cursors_by_scope[1]?.cursor ?? '';
  t.strictSame(reader.frames(), [`id: ${cursor}\ndata: ${JSON.stringify(items[0])}`]);
});

t.test('encodes an event once and sends it in one write to any number of readers', async (t) => {
  const { feed, commit } = await startFeed(t);
  const readers = Array.from({ length: 100 }, createReader);
  for (const reader of readers) feed.follow('default', RUN, feed.end('default', RUN), reader);
  await settle();
  await commit([event('a', 'r1'), event('b', 'r1')]);
  let encodings = 0;
  const counted = (id: string) => ({
    ...event(id, 'r1'),
    payload: {
      toJSON() {
        encodings += 1;
        return {};
      },
    },
  });
  feed.appended('default', 't1', 1, [counted('a'), counted('b')]);
  t.equal(encodings, 2);
  for (const reader of readers) t.strictSame(reader.writes, [2]);
});

t.test('limits the part of the log that is read in one event-loop tick for all readers', async (t) => {
  let read = 0;
  const { feed, append } = await startFeed(t, ({ events }) => ({
    *read(...args) {
      for (const row of events.read(...args)) {
        read += 1;
        yield row;
      }
    },
  }));
  await append(1);
  for (let commit = 0; commit < 30; commit += 1) await append(100);
  const cursor = feed.list('default', THREAD, undefined, 1).items[0]?.cursors_by_scope[0]?.cursor ?? '';
  const readers = Array.from({ length: 5 }, createReader);
  for (const reader of readers) feed.follow('default', THREAD, cursor, reader);
  let most = 0;
  while (readers.some((reader) => reader.frames().length < 3000)) {
    read = 0;
    await turn();
    most = Math.max(most, read);
  }
  t.ok(most <= 1024, `${most} in one turn`);
  for (const reader of readers) t.strictSame(reader.seen(), ids(2, 3001));
});

t.test('sends the next event of a run without reading the store once a reader is up to date', async (t) => {
  let reads = 0;
  const { feed, append, commit } = await startFeed(t, ({ events }) => ({
    read(...args) {
      reads += 1;
      return events.read(...args);
    },
  }));
  const first = createReader();
  feed.follow('default', RUN, feed.end('default', RUN), first);
  await append(2, 'r1');
  // A commit ends with an event of another run.
  (await commit([event('its', 'r1'), event('other', 'r2')]))();
  await settle();
  const cursor = feed.list('default', RUN, undefined, 1).items[0]?.cursors_by_scope[1]?.cursor ?? '';
  const second = createReader();
  feed.follow('default', RUN, cursor, second);
  await when(() => second.seen().length === 2);
  await settle();
  reads = 0;
  await append(1, 'r1');
  await settle();
  t.strictSame(first.seen(), ['e1', 'e2', 'its', 'e3']);
  t.strictSame(second.seen(), ['e2', 'its', 'e3']);
  t.equal(reads, 0);
});

t.test('sends a long commit in chunks, and misses nothing when a socket stalls in between', async (t) => {
  const { feed, append } = await startFeed(t);
  const [slow, fast] = [createReader(), createReader()];
  for (const reader of [slow, fast]) feed.follow('default', RUN, feed.end('default', RUN), reader);
  await settle();
  await append(3000, 'r1');
  slow.stalled = true;
  t.ok(fast.seen().length < 1000);
  await append(1, 'r1');
  await when(() => fast.seen().length >= 3001);
  t.strictSame(fast.seen(), ids(1, 3001));
  t.ok(slow.seen().length < 1000);
  slow.drain();
  await when(() => slow.seen().length >= 3001);
  await append(1, 'r1');
  t.strictSame(slow.seen(), ids(1, 3002));
});

t.test('sends one chunk of a long commit per tick, whatever is committed in the meantime', async (t) => {
  const { feed, commit } = await startFeed(t);
  const reader = createReader();
  feed.follow('default', THREAD, feed.end('default', THREAD), reader);
  await settle();
  const tell = await commit(ids(1, 3000).map((id) => event(id)));
  const more = [await commit([event('e3001')]), await commit([event('e3002')])];
  tell();
  t.equal(reader.writes.length, 1);
  for (const tellMore of more) tellMore();
  t.equal(reader.writes.length, 1);
  for (let before = 1; reader.seen().length < 3002; before = reader.writes.length) {
    await turn();
    t.ok(reader.writes.length <= before + 1);
  }
  t.strictSame(reader.seen(), ids(1, 3002));
});

t.test('sends large events in chunks of limited size', async (t) => {
  const { feed, commit } = await startFeed(t);
  const [live, replayed] = [createReader(), createReader()];
  feed.follow('default', THREAD, feed.end('default', THREAD), live);
  await settle();
  const large = ids(1, 12).map((id) => ({ ...event(id), payload: { text: 'x'.repeat(100_000) } }));
  (await commit(large))();
  const cursor = feed.list('default', THREAD, undefined, 1).items[0]?.cursors_by_scope[0]?.cursor ?? '';
  feed.follow('default', THREAD, cursor, replayed);
  await when(() => live.seen().length === 12 && replayed.seen().length === 11);
  t.strictSame(live.seen(), ids(1, 12));
  t.strictSame(replayed.seen(), ids(2, 12));
  for (const count of [...live.writes, ...replayed.writes]) t.ok(count <= 3);
});

t.test('does not write to a stalled reader, and continues at its position after the drain', async (t) => {
  const { feed, append } = await startFeed(t);
  const [slow, fast] = [createReader(), createReader()];
  for (const reader of [slow, fast]) feed.follow('default', THREAD, feed.end('default', THREAD), reader);
  await settle();
  await append(2);
  slow.stalled = true;
  for (let commit = 0; commit < 5; commit += 1) await append(2);
  t.strictSame(fast.seen(), ids(1, 12));
  t.strictSame(slow.seen(), ids(1, 2));
  slow.drain();
  await append(1);
  await settle();
  await append(1);
  t.strictSame(slow.seen(), ids(1, 14));
  t.strictSame(fast.seen(), ids(1, 14));
});

t.test('reads for a reader that is stalled from the start once it drains', async (t) => {
  const { feed, store, append } = await startFeed(t);
  await append(3, 'r1');
  const cursor = feed.list('default', THREAD, undefined, 1).next_cursor ?? '';
  const reader = createReader();
  reader.stalled = true;
  feed.follow('default', THREAD, cursor, reader);
  const before = store.reads;
  await settle();
  t.equal(store.reads, before);
  reader.drain();
  await settle();
  t.strictSame(reader.seen(), ids(2, 3));
});

t.test('sends commits in order that are announced out of order', async (t) => {
  const { feed, append, commit } = await startFeed(t);
  await append(1, 'r1');
  const readers = [THREAD, RUN].map((by) => {
    const reader = createReader();
    feed.follow('default', by, feed.end('default', by), reader);
    return reader;
  });
  await settle();
  const tellFirst = await commit([event('a', 'r1'), event('b', 'r1')]);
  const tellSecond = await commit([event('c', 'r1')]);
  tellSecond();
  tellFirst();
  for (const reader of readers) t.strictSame(reader.seen(), ['a', 'b', 'c']);
});

t.test('does not repeat events that were read before their announcement', async (t) => {
  const { feed, commit } = await startFeed(t);
  const reader = createReader();
  const tell = await commit([event('a', 'r1')]);
  feed.follow('default', RUN, feed.end('default', RUN), reader);
  await settle();
  const tellNext = await commit([event('b', 'r1')]);
  const late = createReader();
  feed.follow('default', RUN, feed.end('default', RUN), late);
  await settle();
  tell();
  tellNext();
  (await commit([event('c', 'r1')]))();
  t.strictSame(reader.seen(), ['b', 'c']);
  t.strictSame(late.seen(), ['c']);
});

t.test('does not write to a closed reader, and reads nothing for it', async (t) => {
  const { feed, store, append } = await startFeed(t);
  const [live, reading] = [createReader(), createReader()];
  feed.follow('default', THREAD, feed.end('default', THREAD), live);
  await settle();
  live.close();
  live.drain();
  feed.follow('default', THREAD, feed.end('default', THREAD), reading);
  reading.close();
  await settle();
  await append(5);
  await settle();
  t.strictSame([...live.seen(), ...reading.seen()], []);
  const before = store.reads;
  feed.appended('default', 't1', 6, [event('x', 'r1')]);
  t.equal(store.reads, before);
});

t.test('sends a final error frame when the store fails', async (t) => {
  let broken = false;
  const { feed, append, commit, errors } = await startFeed(t, ({ events }) => ({
    read(...args) {
      if (broken) throw new Error('the store is broken');
      return events.read(...args);
    },
  }));
  const [live, reading] = [createReader(), createReader()];
  feed.follow('default', THREAD, feed.end('default', THREAD), live);
  await settle();
  await append(1);
  feed.follow('default', THREAD, feed.end('default', THREAD), reading);
  broken = true;
  await settle();
  await commit([event('untold')]);
  (await commit([event('told')]))();
  for (const reader of [live, reading]) {
    t.equal(reader.frames().at(-1), 'event: error\ndata: {"error":"internal error"}');
    t.equal(reader.ended, true);
  }
  t.strictSame(errors, ['events.stream_failed', 'events.stream_failed']);
});
