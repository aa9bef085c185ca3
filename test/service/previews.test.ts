import t from 'tap';
import { startDemo } from './troupe.ts';

/** Previews in the lists of runs and threads (runtime.md 2.2 and 5.2). */

type Row = Record<string, unknown>;

const ask = (content: unknown, threadId: string) => ({
  agentId: 'default',
  threadId,
  messages: [{ role: 'user', content }],
});

t.test('adds the first words of the input to the rows of lists that request them', async (t) => {
  const { call, runToEnd } = await startDemo(t);
  const items = async (path: string): Promise<Row[]> => Object((await call('GET', path)).body).items;
  await runToEnd(ask('  A refund\n\nfor Ms Okafor ', 'refund'));
  await runToEnd(ask('And the delivery?', 'refund'));
  await runToEnd(ask(`${'🙂'.repeat(60)} more`, 'long'));
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } };
  await runToEnd(ask([image], 'picture'));
  await call('POST', '/v1/threads', { title: 'Empty' });

  const smiles = `${'🙂'.repeat(60)}…`;
  t.same(
    (await items('/v1/runs?preview=true')).map(({ preview }) => preview),
    ['A refund for Ms Okafor', 'And the delivery?', smiles, null],
    'each run shows its own input',
  );
  t.same(
    (await items('/v1/threads/refund/runs?preview=true&status=done')).map(({ preview }) => preview),
    ['A refund for Ms Okafor', 'And the delivery?'],
  );
  t.same(
    (await items('/v1/threads/summaries?preview=true')).map(({ title, preview }) => [title, preview]),
    [
      ['Empty', null],
      [null, null],
      [null, smiles],
      [null, 'A refund for Ms Okafor'],
    ],
    'each thread shows its first user message',
  );
  for (const path of ['/v1/runs', '/v1/threads/summaries?preview=false'])
    for (const row of await items(path)) t.notOk('preview' in row, path);
  t.equal((await call('GET', '/v1/runs?preview=yes')).status, 400);
});

t.test('shows no preview of a deleted thread', async (t) => {
  const { call, runToEnd } = await startDemo(t);
  await runToEnd(ask('A secret', 'deleted'));
  await call('DELETE', '/v1/threads/deleted');
  const { body } = await call('GET', '/v1/runs?preview=true');
  t.match(Object(body).items, [{ thread_id: 'deleted', preview: null }]);
});

t.test('stops reading messages once those of a page are large', async (t) => {
  const { call, runToEnd } = await startDemo(t);
  const data = 'A'.repeat(3 * 1024 * 1024);
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  for (const id of ['a', 'b', 'c']) await runToEnd(ask([{ type: 'text', text: `Look at ${id}` }, image], id));
  const { body } = await call('GET', '/v1/runs?preview=true');
  t.match(Object(body).items, [{ preview: 'Look at a' }, { preview: 'Look at b' }, { preview: null }]);
});
