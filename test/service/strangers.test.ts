import t from 'tap';
import { conversationId, responseId } from '../../src/protocols/openai/ids.ts';
import { countWork } from './counted-work.ts';
import { upload } from './files/client.ts';
import { asks } from './models.ts';
import {
  answerTo,
  askAsStranger,
  BODIES,
  differencesIn,
  isMeasured,
  OF_OTHERS,
  OF_THREADS,
  type Operation,
  operationsOf,
  plain,
  unusedFor,
} from './stranger.ts';
import { runEcho, type User, type Users, withUsers } from './users.ts';

/**
 * Walks all operations with the id of a thread, a run, a task or a push config of another user, while its run is live
 * or waits: identity.md 1.4, checks 43 and 44.
 */

/** Ids of things of a user, by a pattern of the paths in which they stand. */
const idsOf = async (service: Users, alice: User): Promise<{ run: string; in: [RegExp, string[]][] }> => {
  service.models.steps.push(asks(['c1', 'risky']));
  await runEcho(alice, 'hers', { agentId: 'steps' });
  const { body: runs } = await alice.get('/v1/threads/hers/runs');
  const run = String((runs.items as { run_id: string }[])[0]?.run_id);
  const { body: made } = await alice.post('/v1/threads', {});
  const { body: sent } = await alice.post(`/v1/threads/${made.id}/messages`, BODIES.messages);
  t.type(sent.dispatch_id, 'string');
  const { body: file } = await upload(service.url, 'text', { headers: alice.head });
  const uid = String((await alice.get('/v1/threads/hers')).body.uid);
  return {
    run,
    in: [
      [/^\/v1\/files/, [String(file.id)]],
      [/^\/v1\/responses/, [responseId({ run_id: run, leg: 0 })]],
      [/^\/v1\/conversations/, [conversationId(String(made.id)), 'hers']],
      [/./, ['hers', run, uid, String(sent.dispatch_id), String(made.id)]],
    ],
  };
};

t.test('an id of another user is answered like an id that was never used, with the same work', async (t) => {
  const service = await withUsers(t);
  const alice = service.user('alice');
  const operations = await operationsOf(service, OF_OTHERS);
  t.ok(operations.length > 40, `${operations.length} operations`);
  const { run, in: idsIn } = await idsOf(service, alice);
  const before = await Promise.all([alice.get('/v1/threads/hers'), alice.get(`/v1/runs/${run}`)]);
  const walk = { service, work: await countWork(t) };
  // One id of each operation: the others lead to the same functions.
  const isMeasuredBy = ({ path }: Operation, id: string, first: string | undefined): boolean =>
    id === (OF_RUNS.test(path) ? run : first);
  for (const by of ['bob', 'globex/carol']) {
    for (const operation of operations) {
      const [, ids = []] = idsIn.find(([paths]) => paths.test(operation.path)) ?? [];
      const pairs = ids.map((hidden) => ({ operation, hidden, unused: unusedFor(hidden), by }));
      const name = `${operation.method} ${operation.path} by ${by}`;
      for (const pair of pairs) {
        const asked = plain(await askAsStranger(walk, pair, pair.hidden));
        t.equal(asked, plain(await askAsStranger(walk, pair, pair.unused)), `${name} of ${pair.hidden}`);
        if (by === 'bob' && isMeasuredBy(operation, pair.hidden, ids[0]) && isMeasured(operation, asked))
          t.strictSame(await differencesIn(walk, pair), [], `work of ${name} of ${pair.hidden}`);
      }
    }
  }
  t.strictSame(
    (await Promise.all([alice.get('/v1/threads/hers'), alice.get(`/v1/runs/${run}`)])).map(
      ({ body }) => body,
    ),
    before.map(({ body }) => body),
    'nothing of the owner has changed',
  );
});

const OF_RUNS = /^\/v1\/runs\/|task_id/;

/** Posts that only read: the fork of a thread belongs to its reader. */
const READS = /:subscribe$|\/fork$/;

t.test('readers and admins read as the owner does, and readers change nothing (check 47)', async (t) => {
  const service = await withUsers(t);
  const [alice, bob, root] = [service.user('alice'), service.user('bob'), service.user('root', 'admin')];
  const waiting = async (thread: string): Promise<string> => {
    service.models.steps.push(asks(['c1', 'risky']));
    await runEcho(alice, thread, { agentId: 'steps' });
    const { body } = await alice.get(`/v1/threads/${thread}/runs`);
    return String((body.items as { run_id: string }[])[0]?.run_id);
  };
  const run_id = await waiting('hers');
  await alice.call('PATCH', '/v1/threads/hers', { visibility: 'read' });
  const idIn = ({ path }: Operation): string => (/\/runs\/\{|task/.test(path) ? run_id : 'hers');
  const operations = await operationsOf(service, OF_THREADS);
  const isRead = ({ method, path }: Operation): boolean => method === 'GET' || READS.test(path);
  for (const operation of operations.filter(isRead)) {
    const name = `${operation.method} ${operation.path}`;
    if (operation.path.endsWith('/fork')) {
      t.match(await answerTo(service, bob, operation, 'hers'), /^201 .*"owner":"bob"/, name);
      continue;
    }
    const own = plain(await answerTo(service, alice, operation, idIn(operation)));
    t.equal(plain(await answerTo(service, bob, operation, idIn(operation))), own, `${name} of a reader`);
    t.equal(plain(await answerTo(service, root, operation, idIn(operation))), own, `${name} of an admin`);
  }
  for (const operation of operations.filter((each) => !isRead(each))) {
    const name = `${operation.method} ${operation.path}`;
    t.match(await answerTo(service, bob, operation, idIn(operation)), /^403 /, `${name} of a reader`);
  }
  t.match(
    (await alice.get(`/v1/runs/${run_id}`)).body,
    { status: 'waiting' },
    'readers have changed nothing',
  );
  t.match((await alice.get('/v1/threads/hers')).body, { visibility: 'read' });
});

t.test('protocols see nothing of the live run of another user', async (t) => {
  const service = await withUsers(t);
  const [alice, bob] = [service.user('alice'), service.user('bob')];
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
  const sent = await alice.call('POST', '/v1/a2a/slow/message:send', {
    message,
    configuration: { returnImmediately: true },
  });
  const task = sent.body.task as { id: string; contextId: string };
  t.ok(task, JSON.stringify(sent.body));
  t.match(await alice.get(`/v1/a2a/tasks/${task.id}`), { status: 200 });
  t.match(await bob.get(`/v1/a2a/tasks/${task.id}`), { status: 404 });
  t.match(await bob.get('/v1/a2a/tasks'), { status: 200, body: { totalSize: 0, tasks: [] } });
  t.match(await alice.get('/v1/a2a/tasks'), { body: { totalSize: 1 } });
  t.match(await service.admin('GET', '/v1/a2a/tasks'), { body: { totalSize: 1 } });
  t.equal((await bob.post(`/v1/a2a/tasks/${task.id}:cancel`, {})).status, 404);
  t.equal((await bob.get(`/v1/ai-sdk/chat/${task.contextId}/stream`)).status, 204);
  const again = await bob.call('POST', '/v1/a2a/echo/message:send', {
    message: { ...message, contextId: task.contextId },
  });
  t.equal(again.status, 200, 'a context of Bob');
  t.not((again.body.task as { id: string }).id, task.id);
  t.match(await alice.get('/v1/a2a/tasks'), { body: { totalSize: 1 } });
  service.models.releaseAll();
});

t.test('an MCP session belongs to its user, and lists the agents of each request', async (t) => {
  const service = await withUsers(t);
  const [alice, bob] = [service.user('alice'), service.user('bob')];
  const ask = (user: User, method: string, params: object, headers: Record<string, string> = {}) =>
    user.call(
      'POST',
      '/v1/mcp',
      { jsonrpc: '2.0', id: 1, method, params },
      {
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    );
  const opened = await ask(alice, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  t.equal((await ask(bob, 'tools/list', {}, session)).status, 404);
  t.equal((await ask(alice, 'tools/list', {}, session)).status, 200);
  const narrow = service.user('alice', 'invoke:echo');
  t.match((await ask(narrow, 'tools/list', {}, session)).body, { result: { tools: [{ name: 'echo' }] } });
  const call = await ask(narrow, 'tools/call', { name: 'slow', arguments: { message: 'Hi' } }, session);
  t.match(JSON.stringify(call.body), /Unknown tool: slow/);
});
