import t from 'tap';
import { countWrites } from '../../store/count-writes.ts';
import { startResponses } from './responses.ts';

/** Runs that end within the event-loop tick that accepts them, and the rows that they write (openai-responses.md 12). */

const counter = countWrites();
t.teardown(counter.stop);

t.test('runs that end in the tick that accepts them', async (t) => {
  const { troupe, events } = await startResponses(t);

  t.test('end their streams, with the events that a later reader receives', async (t) => {
    // Runs of one tick are accepted and ended by one transaction.
    const body = { model: 'echo', input: 'hi', stream: true };
    const streams = await Promise.all(Array.from({ length: 16 }, () => events('/v1/responses', body)));
    for (const { events: received, raw, headers } of streams) {
      t.match(raw, /^event: response\.created\n/);
      t.match(raw, /data: \[DONE\]\n\n$/);
      const id = `resp_${headers.get('x-troupe-run-id')?.replaceAll('-', '')}0001`;
      const again = await events(`/v1/responses/${id}?stream=true`);
      t.same(again.events, received);
    }
  });

  t.test('write few rows more than native runs', async (t) => {
    const writtenBy = async (path: string, body: object, headers: Record<string, string> = {}) => {
      counter.take();
      const { status } = await troupe.call('POST', path, body, headers);
      t.equal(status, 200);
      return new Set(counter.take().map(({ table, key }) => `${table} ${key}`));
    };
    const messages = [{ role: 'user', content: 'hi' }];
    const tableOf = (row: string): string => row.slice(0, row.indexOf(' '));
    const native = await writtenBy('/v1/runs', { agentId: 'echo', messages });
    const usual = new Set(Array.from(native, tableOf));
    t.ok(usual.has('runs') && usual.has('messages'));
    const more = (rows: ReadonlySet<string>): string[] =>
      Array.from(rows, tableOf)
        .filter((table) => !usual.has(table))
        .sort();

    const chat = { model: 'echo', messages };
    const path = '/v1/chat/completions';
    t.same(more(await writtenBy(path, chat)), ['thread_expiries'], 'a completion');
    const inChat = { 'x-conversation-id': 'c' };
    t.same(
      more(await writtenBy(path, chat, inChat)),
      ['transcripts'],
      'a completion with the id of a chat, such as a title',
    );
    t.same(
      more(await writtenBy(path, { ...chat, stream: true }, inChat)),
      ['thread_expiries', 'transcripts'],
      'the first stream of the chat, behind which the thread of the title expires',
    );
    t.same(
      more(await writtenBy('/v1/responses', { model: 'echo', input: 'hi' })),
      ['responses'],
      'a response',
    );
  });
});
