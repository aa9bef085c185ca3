import t from 'tap';
import { CanonicalEvent } from '../../src/schema/canonical-event.ts';
import { Gone, Invalid } from '../../src/schema/outcome.ts';
import { settle } from '../http/serve.ts';
import { event } from '../store/records.ts';
import { createReader, startFeed } from './reader.ts';

/** runtime.md 13.1: the wire form of events, cursors, scopes. */

const THREAD = { thread_id: 't1' };
const RUN = { run_id: 'r1' };

t.test('lists the scopes of an event, thread first, with a cursor in each', async (t) => {
  const { feed, append } = await startFeed(t);
  await append(1);
  await append(1, 'r1');
  const [ofThread, ofRun] = feed
    .list('default', THREAD, undefined, 10)
    .items.map((item) => CanonicalEvent.parse(item));
  const [thread, run] = [
    { scope_type: 'thread', thread_id: 't1' },
    { scope_type: 'run', run_id: 'r1' },
  ];
  t.strictSame(ofThread?.scopes, [thread]);
  t.strictSame(ofRun?.scopes, [thread, run]);
  t.strictSame(
    ofRun?.cursors_by_scope.map(({ scope }) => scope),
    [thread, run],
  );
  t.match(ofRun, { event_id: 'e2', event_kind: 'RunStarted', schema_version: 1, created_at: 1765000456013 });
  t.strictSame(feed.list('default', RUN, undefined, 10).items, [ofRun]);
});

t.test('returns the same list in pages of any size, for threads and runs', async (t) => {
  const { feed, append } = await startFeed(t);
  for (const run_id of [undefined, 'r1', 'r2', 'r1', 'r1']) await append(2, run_id);
  for (const by of [THREAD, RUN]) {
    const whole = feed.list('default', by, undefined, 100);
    t.match(whole, { next_cursor: null, has_more: false });
    for (const limit of [1, 3, whole.items.length]) {
      const walked = [];
      let cursor: string | undefined;
      do {
        const page = feed.list('default', by, cursor, limit);
        t.equal(page.has_more, page.next_cursor !== null);
        walked.push(...page.items);
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
      t.strictSame(walked, whole.items);
    }
  }
});

t.test('returns 410 for a cursor of another log, and rejects a blank one', async (t) => {
  const { feed, append, commit } = await startFeed(t);
  await append(2);
  await append(1, 'r1');
  await commit([event('other-1'), event('other-2'), event('other-3')], { thread_id: 't2' });
  await commit([event('scoped-1')], { scope: 'elsewhere' });
  const cursors = feed
    .list('default', THREAD, undefined, 10)
    .items.map((item) => String(item.cursors_by_scope[0]?.cursor));
  const [first = '', , third = ''] = cursors;
  t.equal(feed.list('default', RUN, third, 10).items.length, 0);
  const refused = [
    ['default', { thread_id: 't2' }, third],
    ['default', RUN, first],
    ['elsewhere', THREAD, first],
    ['default', { thread_id: 'unknown' }, first],
    ['default', THREAD, first.replace('1', '2')],
    ['default', THREAD, first.replace('1', '99')],
    ['default', THREAD, `${first}x`],
    ['default', THREAD, 'nope'],
    ['default', THREAD, '3'],
    ['default', THREAD, 'cur_0_e1'],
    ['default', THREAD, ` ${first}`],
  ] as const;
  for (const [scope, by, cursor] of refused) {
    t.throws(() => feed.list(scope, by, cursor, 10), new Gone(cursor));
    t.throws(() => feed.follow(scope, by, cursor, createReader()), new Gone(cursor));
  }
  const blank = new Invalid('validation error: cursor is required');
  for (const cursor of ['', '  ']) {
    t.throws(() => feed.list('default', THREAD, cursor, 10), blank);
    t.throws(() => feed.follow('default', { thread_id: 'unknown' }, cursor, createReader()), blank);
  }
});

t.test('isolates two scopes', async (t) => {
  const { feed, commit } = await startFeed(t);
  const readers = ['a', 'b'].map((scope) => {
    const reader = createReader();
    feed.follow(scope, THREAD, feed.end(scope, THREAD), reader);
    feed.follow(scope, RUN, feed.end(scope, RUN), reader);
    return reader;
  });
  await settle();
  (await commit([event('of a', 'r1')], { scope: 'a' }))();
  (await commit([event('of b')], { scope: 'b' }))();
  t.strictSame(
    readers.map((reader) => reader.seen()),
    [['of a', 'of a'], ['of b']],
  );
  t.strictSame(
    feed.list('a', THREAD, undefined, 10).items.map((item) => item.event_id),
    ['of a'],
  );
  t.strictSame(feed.list('b', RUN, undefined, 10), {
    items: [],
    texts: [],
    next_cursor: null,
    has_more: false,
  });
});
