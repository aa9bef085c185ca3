import t from 'tap';
import { asks } from '../models.ts';
import { eventually } from '../troupe.ts';
import { withUsers } from '../users.ts';
import { answered, type Chat, completed, countRuns, decisionsIn, say, startChat } from './chat.ts';

const HEADER = { 'x-openwebui-chat-id': 'c' };

const ask = async (chat: Chat) => {
  chat.troupe.models.steps.push(asks(['c1', 'risky', { path: '/tmp' }]));
  const first = await chat.complete({ model: 'steps', messages: [say('hi')] }, HEADER);
  const reply = (text: string) =>
    chat.complete(
      { model: 'steps', messages: [say('hi'), answered(first.content ?? ''), say(text)] },
      HEADER,
    );
  return { first, reply };
};

t.test('reports an approval as a text, which /approve answers (check 35)', async (t) => {
  const chat = await startChat(t);
  const { first, reply } = await ask(chat);
  t.equal(
    first.content,
    '**Approval needed**: risky {"path":"/tmp"}\n\nReply /approve, or /deny and a reason.',
  );
  t.equal(first.finish_reason, 'stop');
  const second = await reply(' /Approve ');
  t.equal(second.run_id, first.run_id);
  t.strictSame(chat.tools.executed, ['c1']);
  t.equal(second.content, 'echo: hi');
  t.equal(await countRuns(chat.troupe), 1);
  t.match(await decisionsIn(chat.troupe), [
    { route: '/v1/chat/completions', ip: '127.0.0.1', run_id: first.run_id },
  ]);
  const { body } = await chat.troupe.call('GET', `/v1/runs/${first.run_id}/legs`);
  t.match(body, {
    items: [
      { id: first.body.id, object: 'chat.completion', leg: 0 },
      { id: second.body.id, leg: 1 },
    ],
  });
});

t.test('/deny refuses the call with its reason (check 35)', async (t) => {
  const chat = await startChat(t);
  const { first, reply } = await ask(chat);
  const second = await reply('/deny not today');
  t.equal(second.run_id, first.run_id);
  t.strictSame(chat.tools.executed, []);
  t.match(JSON.stringify(chat.troupe.models.requests.at(-1)?.request.messages), /Denied.*not today/);
});

t.test('any other text supersedes the approval (check 35)', async (t) => {
  const chat = await startChat(t);
  const { first, reply } = await ask(chat);
  const second = await reply('never mind');
  t.equal(second.thread_id, first.thread_id);
  t.equal(second.content, 'echo: never mind');
  t.strictSame(chat.tools.executed, []);
});

t.test('streams the text of an approval, as without a stream', async (t) => {
  const chat = await startChat(t);
  chat.troupe.models.steps.push(asks(['c1', 'risky', { path: '/tmp' }]));
  const { content, finish_reason } = await chat.stream({ model: 'steps', messages: [say('hi')] }, HEADER);
  t.equal(content, '**Approval needed**: risky {"path":"/tmp"}\n\nReply /approve, or /deny and a reason.');
  t.equal(finish_reason, 'stop');
});

t.test('/approve needs the right to decide (check 36)', async (t) => {
  const troupe = await withUsers(t);
  const alice = troupe.user('alice', 'read', 'invoke');
  const send = async (messages: object[]) =>
    completed(await alice.call('POST', '/v1/chat/completions', { model: 'steps', messages }, HEADER));
  troupe.models.steps.push(asks(['c1', 'risky']));
  const first = await send([say('hi')]);
  const refused = await send([say('hi'), answered(first.content ?? ''), say('/approve')]);
  t.equal(refused.status, 403);
  t.match(refused.body.error, { code: 'forbidden' });
  t.equal((await alice.get(`/v1/runs/${first.run_id}`)).body.status, 'waiting');
  t.strictSame(troupe.tools.executed, []);
});

t.test('a stream waits for a decision that is made elsewhere, if configured (check 36)', async (t) => {
  const chat = await startChat(t, { settings: { openai: { hold_waits_ms: 60_000 } } });
  const { troupe } = chat;
  troupe.models.steps.push(asks(['c1', 'risky']));
  const streaming = chat.stream({ model: 'steps', messages: [say('hi')] }, HEADER);
  const { body } = await eventually(
    () => troupe.call('GET', '/v1/runs?status=waiting'),
    ({ body }) => (body.items as object[]).length === 1,
  );
  const [run] = body.items as { run_id: string }[];
  await troupe.post(`/v1/runs/${run?.run_id}/decision`, { toolCallId: 'c1', action: 'resume' });
  const { content, finish_reason } = await streaming;
  t.equal(content, 'echo: hi');
  t.equal(finish_reason, 'stop');
  t.strictSame(chat.tools.executed, ['c1']);
});

t.test('a stream that waits for too long ends with the text of the approval', async (t) => {
  const chat = await startChat(t, { settings: { openai: { hold_waits_ms: 50 } } });
  chat.troupe.models.steps.push(asks(['c1', 'risky']));
  const { content, finish_reason } = await chat.stream({ model: 'steps', messages: [say('hi')] }, HEADER);
  t.match(content, /^\*\*Approval needed\*\*: risky/);
  t.equal(finish_reason, 'stop');
});

t.test('a disconnect cancels the run, unless configured otherwise (check 22)', async (t) => {
  for (const on_disconnect of ['cancel', 'continue'] as const) {
    await t.test(on_disconnect, async (t) => {
      const { troupe } = await startChat(t, { settings: { openai: { on_disconnect } } });
      for (const stream of [true, false]) {
        const stopping = new AbortController();
        const sent = fetch(`${troupe.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'slow', stream, messages: [say('hi')] }),
          signal: stopping.signal,
        });
        await eventually(
          async () => troupe.models.waiting(),
          (waiting) => waiting === 1,
        );
        stopping.abort();
        await sent.then((response) => response.text()).catch(() => {});
        // The model may be called before the acceptance of the run is durable.
        const { body } = await eventually(
          () => troupe.call('GET', '/v1/runs?order=desc&limit=1'),
          ({ body }) => body.total === (stream ? 1 : 2),
        );
        const [run] = body.items as { run_id: string }[];
        if (on_disconnect === 'continue') troupe.models.release();
        const ended = await eventually(
          () => troupe.call('GET', `/v1/runs/${run?.run_id}`),
          ({ body }) => body.status === 'done',
        );
        const type = on_disconnect === 'cancel' ? 'cancelled' : 'natural_end';
        t.match(ended.body.termination_reason, { type }, `stream: ${stream}`);
      }
    });
  }
});

t.test('a request without a stream has a limit, after which its run is cancelled (check 23)', async (t) => {
  const { complete, troupe } = await startChat(t, { settings: { openai: { blocking_wait_ms: 50 } } });
  const { status, body, headers, run_id } = await complete({ model: 'slow', messages: [say('hi')] });
  t.equal(status, 504);
  t.match(body.error, { code: 'timeout', type: 'server_error' });
  t.equal(headers.get('x-should-retry'), 'false');
  const ended = await eventually(
    () => troupe.call('GET', `/v1/runs/${run_id}`),
    (answer) => answer.body.status === 'done',
  );
  t.match(ended.body.termination_reason, { type: 'cancelled' });
});
