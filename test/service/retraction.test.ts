import t from 'tap';
import { asks } from './models.ts';
import { suspend, withTools } from './suspended.ts';
import { startTroupe, type Troupe } from './troupe.ts';

/** Deletion of messages: runtime.md 4.2. */

type Listed = { id: string; seq: number; role: string };

const say = (content: string, agentId = 'echo') => ({
  agentId,
  threadId: 'T',
  messages: [{ role: 'user', content }],
});

const listed = async ({ call }: Troupe, query = ''): Promise<Listed[]> =>
  (await call('GET', `/v1/threads/T/messages?limit=200${query}`)).body.messages as Listed[];

const seqs = async (troupe: Troupe, query = ''): Promise<number[]> =>
  (await listed(troupe, query)).map(({ seq }) => seq);

const remove = async (troupe: Troupe, seq: number) => {
  const found = (await listed(troupe)).find((message) => message.seq === seq);
  return troupe.call('DELETE', `/v1/threads/T/messages/${found?.id}`);
};

const asked = ({ models }: Troupe): string[] =>
  (models.requests.at(-1)?.request.messages ?? [])
    .filter(({ role }) => role !== 'system')
    .flatMap(({ content }) => content.map((block) => (block.type === 'text' ? block.text : block.type)));

t.test('removes a message for readers and for the model, and keeps the numbers of others', async (t) => {
  const troupe = await startTroupe(t);
  for (const text of ['one', 'two', 'three']) await troupe.runToEnd(say(text));
  t.equal((await remove(troupe, 3)).status, 204);
  t.strictSame(await seqs(troupe), [1, 2, 4, 5, 6]);
  t.strictSame(await seqs(troupe, '&visibility=all'), [1, 2, 4, 5, 6]);
  t.equal((await troupe.call('GET', '/v1/threads/T/messages?limit=2')).body.total, 5);
  await troupe.restart();
  t.strictSame(await seqs(troupe), [1, 2, 4, 5, 6]);
  await troupe.runToEnd(say('four'));
  t.strictSame(asked(troupe), ['one', 'echo: one', 'echo: two', 'three', 'echo: three', 'four']);
  t.match(await troupe.post('/v1/threads/T/fork', { id: 'F' }), { status: 201 });
  const fork = (await troupe.call('GET', '/v1/threads/F/messages')).body.messages as Listed[];
  t.strictSame(fork, await listed(troupe));
});

for (const seq of [2, 3, 4]) {
  t.test(`removes a call with its results, and a result with its call (message ${seq})`, async (t) => {
    const { troupe } = await withTools(t);
    troupe.models.steps.push(asks(['c1', 'add', { a: 1 }], ['c2', 'add', { a: 2 }]));
    await troupe.runToEnd(say('sum', 'steps'));
    t.strictSame(
      (await listed(troupe)).map(({ role }) => role),
      ['user', 'assistant', 'tool', 'tool', 'assistant'],
    );
    t.equal((await remove(troupe, seq)).status, 204);
    t.strictSame(await seqs(troupe), [1, 5]);
  });
}

t.test('rejects unknown messages, and any while a run is open', async (t) => {
  const { troupe } = await withTools(t);
  await troupe.runToEnd(say('one'));
  const [first] = await listed(troupe);
  const path = `/v1/threads/T/messages/${first?.id}`;
  t.match(await troupe.call('DELETE', '/v1/threads/T/messages/x'), {
    status: 404,
    body: { error: 'message not found: x' },
  });
  t.match(await troupe.call('DELETE', '/v1/threads/U/messages/x'), {
    status: 404,
    body: { error: 'thread not found: U' },
  });
  const busy = await troupe.run(say('two', 'slow'));
  await busy.until('text_delta');
  t.equal((await troupe.call('DELETE', path)).status, 409, 'a run executes');
  troupe.models.release();
  await busy.rest();
  await suspend(troupe, 'T', ['c1', 'risky']);
  t.match(await troupe.call('DELETE', path), {
    status: 409,
    body: { error: "thread 'T' has an open run: messages can be deleted when it has ended" },
  });
  t.equal((await troupe.call('POST', '/v1/threads/T/cancel')).status < 300, true);
  const answers = await Promise.all([troupe.call('DELETE', path), troupe.call('DELETE', path)]);
  t.strictSame(answers.map(({ status }) => status).sort(), [204, 404]);
});

t.test('removes the partial answer of a stopped run with the message before it', async (t) => {
  const troupe = await startTroupe(t);
  const busy = await troupe.run(say('stop me', 'slow'));
  await busy.until('text_delta');
  await troupe.call('POST', '/v1/threads/T/cancel');
  await busy.rest();
  const before = await seqs(troupe);
  t.equal((await remove(troupe, 1)).status, 204);
  t.strictSame(await seqs(troupe), [], `of ${before}`);
});
