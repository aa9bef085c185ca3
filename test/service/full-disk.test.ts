import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { startChild } from '../store/child.ts';
import { clientOf, eventually } from './troupe.ts';

/** runtime.md 15.1 on a full disk: a service that cannot write is not ready. */

t.test('is unhealthy while its disk is full, and healthy once space is free again', async (t) => {
  const dir = t.testdir();
  const service = startChild(
    t,
    '../service/child-serve.ts',
    [join(dir, 'data'), join(dir, 'executed'), 'goes on'],
    "trap '' XFSZ; ulimit -S -f 12288;",
  );
  const [, url = ''] = /^listens on (.*)/.exec(await service.line()) ?? [];
  const client = clientOf(() => url);
  const health = () => client.call('GET', '/health');
  t.equal((await health()).status, 200);

  const push = () => client.post('/v1/threads/T/mailbox', { payload: { text: 'x'.repeat(500_000) } });
  const refused = await eventually(push, ({ status }) => status !== 201);
  t.match(refused, { status: 503, body: { error: /cannot be written/ } });
  t.match(await health(), {
    status: 503,
    body: { status: 'unhealthy', components: { store: 'error', runtime: 'ok' } },
  });
  const runsBefore = (await client.call('GET', '/v1/runs?limit=1')).body.total;
  const [model] = (await client.call('GET', '/v1/models')).body.data as { id: string }[];
  const completion = await client.post('/v1/chat/completions', {
    model: model?.id,
    messages: [{ role: 'user', content: 'x'.repeat(500_000) }],
  });
  t.match(completion, { status: 503, body: { error: { code: 'storage_unavailable', param: null } } });
  t.equal(completion.headers.get('x-should-retry'), 'true', '(check 4)');
  const response = await client.post('/v1/responses', { model: model?.id, input: 'x'.repeat(500_000) });
  t.match(response, { status: 503, body: { error: { code: 'storage_unavailable' } } });
  t.equal(response.headers.get('x-should-retry'), 'true', '(check 4)');
  t.equal((await client.call('GET', '/v1/runs?limit=1')).body.total, runsBefore);
  t.equal((await client.call('GET', '/health/live')).status, 200);
  t.equal((await client.call('GET', '/v1/threads/T/messages')).status, 200, 'stored data can be read');

  execFileSync('prlimit', [`--pid=${service.pid}`, '--fsize=unlimited:']);
  await eventually(health, ({ status }) => status === 200);
  t.equal((await push()).status, 201);
});
