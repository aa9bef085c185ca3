import t from 'tap';
import { asks } from './models.ts';
import { runEcho, type User, type Users, withUsers } from './users.ts';

/**
 * Walks all operations with the id of a thread, a run, a task or a push config of another user, while its run is live
 * or waits: identity.md 1.4, checks 43 and 44.
 */

type Operation = { method: string; path: string; body: unknown };

/** Ids in paths and bodies; `{}` stands for the id that a request asks for. */
const PARAMS: Readonly<Record<string, string>> = {
  id: '{}',
  thread_id: '{}',
  task_id: '{}',
  config_id: 'hook',
  message_id: 'm1',
  tenant: 'echo',
  step_index: '0',
};

const BODIES: Readonly<Record<string, unknown>> = {
  decision: { toolCallId: 'c1', action: 'resume', payload: { approved: true }, digest: 'x' },
  messages: { agent_id: 'echo', messages: [{ role: 'user', content: 'Hi' }] },
  inputs: { messages: [{ role: 'user', content: 'Hi' }] },
  mailbox: { payload: { text: 'Hi' } },
  metadata: { title: 'mine' },
  pushNotificationConfigs: { url: 'https://hooks.example/x', id: 'hook' },
};

const isAboutOthers = (path: string): boolean =>
  /\{(thread_id|task_id)\}|\/v1\/(threads|runs)\/\{id\}/.test(path) && !/inferences/.test(path);

const operationsOf = async (service: Users): Promise<Operation[]> => {
  const { body } = await service.call('GET', '/openapi.json');
  const paths = body.paths as Record<string, Record<string, unknown>>;
  return Object.entries(paths)
    .filter(([path]) => isAboutOthers(path))
    .flatMap(([path, methods]) =>
      ['get', 'post', 'put', 'patch', 'delete']
        .filter((method) => method in methods)
        .map((method) => ({ method: method.toUpperCase(), path, body: bodyFor(method, path) })),
    );
};

const bodyFor = (method: string, path: string): unknown => {
  if (method === 'get' || method === 'delete') return undefined;
  if (method === 'patch') return { title: 'mine' };
  if (path.includes('/ai-sdk/') && path.endsWith('/runs'))
    return { agentId: 'echo', messages: [{ id: 'u9', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] };
  if (path.includes('/ag-ui/') && path.endsWith('/runs'))
    return { runId: 'r9', agentId: 'echo', messages: [{ id: 'u9', role: 'user', content: 'Hi' }] };
  const last = path.split(/[/:]/).at(-1) ?? '';
  return BODIES[last] ?? {};
};

/** The status and the text of an answer; of a stream that does not end, its first piece. */
const answerTo = async (
  service: Users,
  user: User,
  { method, path, body }: Operation,
  id: string,
): Promise<string> => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_found, name: string) =>
    (PARAMS[name] ?? '').replace('{}', id),
  );
  const controller = new AbortController();
  const response = await fetch(service.url + filled, {
    method,
    headers: {
      ...user.head,
      'a2a-version': '1.0',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: controller.signal,
  });
  const endless = /\/events\/stream$|:subscribe$/.test(path);
  const text = endless && response.ok ? await firstPiece(response) : await response.text();
  controller.abort();
  return `${response.status} ${text.replaceAll(id, '<id>')}`;
};

const firstPiece = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  return new TextDecoder().decode(value);
};

/** Ids and times that the service makes differ from answer to answer. */
const plain = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<made>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/("duration\w*":)\d+/g, '$1<number>')
    .replaceAll(/\b\d{9,}\b/g, '<number>');

t.test('an id of another user is answered like an id that was never used', async (t) => {
  const service = await withUsers(t);
  const alice = service.user('alice');
  const operations = await operationsOf(service);
  t.ok(operations.length > 30, `${operations.length} operations`);
  service.models.steps.push(asks(['c1', 'risky']));
  await runEcho(alice, 'hers', { agentId: 'steps' });
  const { body: runs } = await alice.get('/v1/threads/hers/runs');
  const run_id = String((runs.items as { run_id: string }[])[0]?.run_id);
  const uid = String((await alice.get('/v1/threads/hers')).body.uid);
  const before = await Promise.all([alice.get('/v1/threads/hers'), alice.get(`/v1/runs/${run_id}`)]);
  let turn = 0;
  for (const name of ['bob', 'globex/carol']) {
    for (const id of ['hers', run_id, uid]) {
      for (const operation of operations) {
        turn += 1;
        // Writes make things of the stranger under these ids, so each operation has a separate stranger.
        const [one, other] = [service.user(`${name}-${turn}`), service.user(`${name}-${turn}-too`)];
        const unused = id === run_id ? run_id.replace(/^.{8}/, 'ffffffff') : 'never-used';
        const asked = plain(await answerTo(service, one, operation, id));
        const expected = plain(await answerTo(service, other, operation, unused));
        t.equal(asked, expected, `${operation.method} ${operation.path} of ${id} by ${name}`);
      }
    }
  }
  t.strictSame(
    (await Promise.all([alice.get('/v1/threads/hers'), alice.get(`/v1/runs/${run_id}`)])).map(
      ({ body }) => body,
    ),
    before.map(({ body }) => body),
    'nothing of the owner has changed',
  );
});

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
  const operations = await operationsOf(service);
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
