import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { createIds } from '../../src/composition/ids.ts';
import { createTroupe } from '../../src/index.ts';
import { fakeClock, startTestTroupe } from '../../src/testing/index.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { collect } from '../collect.ts';
import { copyKey } from '../store/open.ts';
import { clientOf, eventually } from './troupe.ts';

/** Options that an embedding program passes to the service. */

const NOW = Date.UTC(2030, 0, 1);

t.test('uses the clock, ids and log of the embedding program', async (t) => {
  const given: string[] = [];
  const lines: string[] = [];
  const real = createIds();
  await using troupe = await startTestTroupe({
    settings: { log_level: 'debug', AdminApiConfig: { bearer_token: 'secret-of-the-test' } },
    clock: fakeClock(NOW),
    ids: {
      uuid() {
        const id = real.uuid();
        given.push(id);
        return id;
      },
    },
    log: { write: (line) => lines.push(line) },
  });
  const { post } = clientOf(() => troupe.url);
  const { status, body } = await post('/v1/threads', { title: 'x' });
  t.equal(status, 201, JSON.stringify(body));
  t.ok(given.includes(String(body.id)), 'the ids come from the embedding program');
  t.match(body, { metadata: { created_at: NOW } });
  t.ok(
    lines.length > 0 && lines.every((line) => JSON.parse(line).time !== undefined),
    'each line of the log is JSON',
  );
  t.notOk(lines.some((line) => line.includes('secret-of-the-test')));
});

t.test('rejects an unknown option and lists the allowed ones', async (t) => {
  const wrong = { clocks: {} } as object;
  await t.rejects(createTroupe(wrong), { message: /clocks: not an option; allowed: .*.*clock, ids, log/ });
});

t.test('serves requests through fetch without listening, and can be copied while it runs', async (t) => {
  const folder = t.testdir({ data: {}, copy: {} });
  const start = (storage_dir: string) =>
    createTroupe({
      listen: false,
      settings: { storage_dir, seed: { profile: 'demo' }, AdminApiConfig: { bearer_token: 'secret' } },
      log: { write() {} },
    });
  const troupe = await start(join(folder, 'data'));
  t.equal(troupe.url, '');
  const request = (path: string, body?: object) =>
    new Request(`https://anywhere.example${path}`, {
      ...(body && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
  const messages = [{ role: 'user', content: 'Hello' }];
  const answer = await troupe.fetch(request('/v1/runs', { agentId: 'default', threadId: 'kept', messages }));
  t.match(await answer.text(), /"event_type":"run_finish"/);
  t.equal((await troupe.fetch(request('/v1/config/agents'))).status, 401);

  await troupe.backup(join(folder, 'copy'));
  await t.rejects(troupe.backup(join(folder, 'copy')), { message: /is not empty/ });
  await troupe.stop();
  await t.rejects(troupe.backup(join(folder, 'other')), { message: /cannot be written/ });

  copyKey(join(folder, 'data'), join(folder, 'copy'));
  const copy = await start(join(folder, 'copy'));
  t.teardown(() => copy.stop());
  t.match(await (await copy.fetch(request('/v1/threads'))).json(), { items: ['kept'] });
});

t.test('leaves nothing in memory after a stop or a failed start', async (t) => {
  const folder = t.testdir({});
  const given: Record<string, WeakRef<object>> = {};
  const start = (name: string, port: number) => {
    const tool = defineTool({
      id: name,
      description: 'Is reached from everywhere in its service',
      input: z.object({}),
      execute: () => name,
    });
    given[name] = new WeakRef(tool);
    return createTroupe({
      tools: [tool],
      settings: {
        http_addr: `127.0.0.1:${port}`,
        storage_dir: join(folder, name),
        seed: { profile: 'demo' },
        AdminApiConfig: { bearer_token: 'secret' },
      },
      log: { write() {} },
    });
  };
  const live = async () => {
    const troupe = await start('stopped', 0);
    const { port } = new URL(troupe.url);
    const { runToEnd } = clientOf(() => troupe.url);
    await runToEnd({ agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content: 'x' }] });
    await t.rejects(start('failed', Number(port)), { message: /the address is in use/ });
    await troupe.stop();
  };
  await live();
  await eventually(
    async () => {
      collect();
      return Object.keys(given).filter((name) => given[name]?.deref());
    },
    (left) => left.length === 0,
  ).catch((error) => t.fail(error.message));
});
