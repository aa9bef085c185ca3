import t, { type Test } from 'tap';
import { startChild } from '../store/child.ts';
import { ask } from './http.ts';
import { ADMIN_TOKEN } from './troupe.ts';

/** Requests with an `Idempotency-Key` whose process ends: runtime.md 0.8, check 46. Random kills are in test/crash. */

const serve = async (t: Test, dir: string) => {
  const child = startChild(t, '../service/child-keyed.ts', [dir]);
  for (;;) {
    const [, url] = /^listens on (.*)/.exec(await child.line()) ?? [];
    if (url !== undefined) return { ...child, url };
  }
};

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

type Counted = { path: string; key: string };

const THREADS: Counted = { path: '/v1/threads?limit=200', key: 'items' };
const RUNS: Counted = { path: '/v1/runs?limit=200', key: 'items' };

const user = [{ role: 'user', content: 'Hello' }];

/** Requests, and the list that each adds one item to. */
const REQUESTS: readonly [path: string, body: object, adds: Counted][] = [
  ['/v1/threads', { title: 'one' }, THREADS],
  ['/v1/threads/T/mailbox', { payload: 'Hello' }, RUNS],
  ['/v1/threads/T/messages', { messages: user }, RUNS],
  ['/v1/threads/T/fork', {}, THREADS],
  ['/v1/runs', { agentId: 'echo', threadId: 'R', messages: user }, RUNS],
  [
    '/v1/ai-sdk/chat',
    {
      agentId: 'echo',
      threadId: 'C',
      messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'a' }] }],
    },
    RUNS,
  ],
  [
    '/v1/ag-ui/run',
    { agentId: 'echo', threadId: 'G', messages: [{ id: 'u', role: 'user', content: 'a' }] },
    RUNS,
  ],
  [
    '/v1/a2a/echo/message:send',
    { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'a' }] } },
    RUNS,
  ],
  [
    '/v1/config/agents',
    { id: 'poet', model_id: 'echo', system_prompt: 'Verse.' },
    { path: '/v1/config/agents', key: 'items' },
  ],
  ['/v1/eval/datasets', { id: 'd', spec: { fixtures: [] } }, { path: '/v1/eval/datasets', key: 'datasets' }],
  ['/v1/users', { id: 'bot', kind: 'service', grants: ['member'] }, { path: '/v1/users', key: 'items' }],
];

/** A restart takes a second, and the requests differ in their commits only. */
const DYING_BEFORE = new Set(['/v1/threads', '/v1/runs', '/v1/config/agents']);

/** Comments keep connections of streams open. */
const withoutComments = (text: string): string => text.replace(/^:.*\n\n/gm, '');

t.test('executes a request once whose process ends before or after its commit (check 46)', async (t) => {
  const dir = t.testdir();
  let service = await serve(t, dir);

  const post = async (path: string, body: object, headers: Record<string, string>) => {
    const got = await ask(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...ADMIN, ...headers },
      body: JSON.stringify(body),
    });
    return { status: got.status, isReplay: got.headers.has('idempotency-replayed'), text: await got.text() };
  };

  const count = async ({ path, key }: Counted): Promise<number> => {
    const got = await ask(service.url + path, { headers: ADMIN });
    return JSON.parse(await got.text())[key].length;
  };

  const kill = async (path: string, body: object, headers: Record<string, string>): Promise<void> => {
    await post(path, body, headers).catch(() => {});
    await service.exit;
    service = await serve(t, dir);
  };

  for (const [path, body, adds] of REQUESTS) {
    const key = { 'idempotency-key': path };
    const before = await count(adds);
    if (DYING_BEFORE.has(path)) {
      await kill(path, body, { ...key, 'x-dies': 'before' });
      t.equal(await count(adds), before, `${path}: nothing is stored`);
    }
    await kill(path, body, { ...key, 'x-dies': 'after' });
    t.equal(await count(adds), before + 1, `${path}: it is stored`);
    const again = await post(path, body, key);
    t.ok(again.status >= 200 && again.status < 300, `${path}: ${again.status} ${again.text}`);
    t.ok(again.isReplay, `${path}: the response is a replay`);
    const last = await post(path, body, key);
    t.equal(withoutComments(last.text), withoutComments(again.text), `${path}: and always the same`);
    t.equal(await count(adds), before + 1, `${path}: there is one`);
  }
});
