import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { eventually } from '../troupe.ts';
import { answered, messagesOf, say, startChat } from './chat.ts';

/** Text of a failed inference that was streamed and withdrawn: chunks of chat completions cannot be retracted. */

const HEADER = { 'x-openwebui-chat-id': 'c' };

t.test('a chat continues behind the text that counts, and behind the text that was streamed', async (t) => {
  const chat = await startChat(t, { settings: { mailbox: { retry_base_ms: 1 } } });
  const ask = { model: 'flaky', messages: [say('hi')] };
  for (const isStream of [true, false]) {
    const head = { ...HEADER, 'x-openwebui-chat-id': `c-${isStream}`, 'idempotency-key': `k-${isStream}` };
    const { models } = chat.troupe;
    models.failures.push(new ModelError('overloaded', 'busy'));
    const send = isStream ? chat.stream : chat.complete;
    const { content, headers } = await send(ask, head);
    t.equal(content, isStream ? 'half\n\nhalfecho: hi' : 'halfecho: hi');
    t.equal((await send(ask, head)).content, 'halfecho: hi', 'a repeat has the text that counts');
    const thread_id = headers.get('x-troupe-thread-id') ?? '';
    t.match(await messagesOf(chat.troupe, thread_id), [{}, { content: [{ text: 'halfecho: hi' }] }]);
    const messages = [say('hi'), answered(content ?? ''), say('two')];
    const next = await chat.complete(
      { model: 'flaky', messages },
      { ...head, 'idempotency-key': `next-${isStream}` },
    );
    t.equal(next.thread_id, thread_id, 'the position is known');
    t.equal((await send(ask, head)).content, 'halfecho: hi');
  }
});

t.test('text that was withdrawn is no stopped answer', async (t) => {
  const patient = { mailbox: { retry_base_ms: 600_000, retry_cap_ms: 600_000 } };
  const { troupe, complete } = await startChat(t, { settings: patient });
  troupe.models.failures.push(new ModelError('overloaded', 'busy'));
  const stopping = new AbortController();
  const response = await fetch(`${troupe.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...HEADER },
    body: JSON.stringify({ model: 'flaky', stream: true, messages: [say('hi')] }),
    signal: stopping.signal,
  });
  const thread_id = response.headers.get('x-troupe-thread-id') ?? '';
  const run_id = response.headers.get('x-troupe-run-id') ?? '';
  await eventually(
    async () => (await troupe.call('GET', `/v1/threads/${thread_id}/mailbox`)).body.items,
    (items) => JSON.stringify(items).includes('"Queued"'),
  );
  stopping.abort();
  await eventually(
    () => troupe.call('GET', `/v1/runs/${run_id}`),
    ({ body }) => body.status === 'done',
  );
  const shown = await troupe.call('GET', `/v1/ai-sdk/threads/${thread_id}/messages`);
  t.notMatch(JSON.stringify(shown.body), 'half', 'the history shows no withdrawn text');
  const messages = [say('hi'), answered('half'), say('again')];
  const next = await complete({ model: 'flaky', messages }, HEADER);
  t.equal(next.thread_id, thread_id);
});
