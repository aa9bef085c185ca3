import t from 'tap';
import type { Task } from '../../../src/protocols/a2a/model.ts';
import { asks } from '../models.ts';
import { type Answer, eventually } from '../troupe.ts';
import { listShape } from './shapes.ts';
import { a2aFor, reasonIn, said, type TaskClient, violationsIn } from './tasks-client.ts';

const list = async ({ troupe }: TaskClient, query = '', tenant = '') => {
  const { status, body } = await troupe.call('GET', `/v1/a2a/${tenant}tasks${query}`);
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return listShape(body);
};

const cancel = ({ troupe }: TaskClient, task_id: string, tenant = ''): Promise<Answer> =>
  troupe.call('POST', `/v1/a2a/${tenant}tasks/${task_id}:cancel`);

const settled = (client: TaskClient, task_id: string): Promise<Task> =>
  eventually(
    () => client.get(task_id),
    ({ status }) => status.state === 'TASK_STATE_CANCELED',
  );

t.test('returns a task with the requested length of history', async (t) => {
  const client = await a2aFor(t);
  const { send, get, troupe } = client;
  const { id } = await send({ tenant: 'echo' });
  t.strictSame(said(await get(id)), ['user: Hello', 'agent: echo: Hello']);
  t.strictSame(said(await get(id, '?historyLength=1')), ['agent: echo: Hello']);
  t.notOk('history' in (await get(id, '?historyLength=0')));
  t.match(await get(id), { artifacts: [{ artifactId: 'response' }] });
  for (const wrong of ['-1', 'x', '1.5']) {
    const answer = await troupe.call('GET', `/v1/a2a/tasks/${id}?historyLength=${wrong}`);
    t.equal(answer.status, 400);
    t.match(violationsIn(answer), [{ field: 'historyLength' }]);
  }
  const unknown = await troupe.call('GET', '/v1/a2a/tasks/nobody');
  t.equal(unknown.status, 404);
  t.equal(reasonIn(unknown), 'TASK_NOT_FOUND');
});

t.test('shows a tenant its tasks from the moment they are accepted', async (t) => {
  const client = await a2aFor(t);
  const { begin, troupe } = client;
  const running = await begin({ tenant: 'slow', contextId: 'c' });
  const queued = await begin({ tenant: 'slow', contextId: 'c' });
  const read = (tenant: string, id: string) => troupe.call('GET', `/v1/a2a/${tenant}/tasks/${id}`);
  for (const { id } of [running, queued]) {
    t.equal((await read('slow', id)).status, 200);
    t.equal((await read('echo', id)).status, 404);
    t.equal((await cancel(client, id, 'echo/')).status, 404);
  }
  t.match((await read('ghost', running.id)).body, { error: { message: 'agent not found: ghost' } });
  t.equal((await list(client, '', 'slow/')).totalSize, 2);
  t.equal((await list(client, '', 'echo/')).totalSize, 0);
  troupe.models.releaseAll();
});

t.test('shows a run of another protocol as a task', async (t) => {
  const client = await a2aFor(t);
  const events = await client.troupe.runToEnd({
    agentId: 'echo',
    threadId: 'c',
    messages: [{ role: 'user', content: 'Hi' }],
  });
  const task = await client.get(String(events[0]?.run_id));
  t.match(task, { contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } });
  t.strictSame(said(task), ['user: Hi', 'agent: echo: Hi']);
  t.match(await list(client), { totalSize: 1, tasks: [{ id: task.id }] });
});

t.test('lists every task once in pages, newest first', async (t) => {
  const client = await a2aFor(t);
  const ids: string[] = [];
  for (const text of ['one', 'two', 'three']) {
    ids.unshift((await client.send({ tenant: 'echo', contextId: 'c', text })).id);
  }
  const seen: string[] = [];
  let token = '';
  do {
    const page = await list(client, `?pageSize=1&contextId=c${token && `&pageToken=${token}`}`);
    t.equal(page.totalSize, 3);
    t.equal(page.pageSize, 1);
    t.notOk('artifacts' in (page.tasks[0] ?? {}));
    t.notOk('history' in (page.tasks[0] ?? {}));
    seen.push(...page.tasks.map(({ id }) => id));
    token = page.nextPageToken;
  } while (token !== '');
  t.strictSame(seen, ids);
  const [newest] = (await list(client, '?includeArtifacts=true&historyLength=1&pageSize=1')).tasks;
  t.match(newest, { artifacts: [{ parts: [{ text: 'echo: three' }] }], history: [{ role: 'ROLE_AGENT' }] });
  const since = encodeURIComponent(newest?.status.timestamp ?? '');
  t.match(await list(client, `?statusTimestampAfter=${since}`), { totalSize: 1, tasks: [{ id: ids[0] }] });
  t.match(await list(client, '?status=completed&contextId=c'), { totalSize: 3 });
  t.match(await list(client, '?status=TASK_STATE_UNSPECIFIED'), { totalSize: 3 });
  t.match(await list(client, '?status=TASK_STATE_WORKING'), { tasks: [], totalSize: 0, nextPageToken: '' });
  t.match(await list(client, '?contextId=elsewhere'), { tasks: [], totalSize: 0 });
  t.equal((await list(client, '?pageSize=0')).pageSize, 1);
  t.equal((await list(client, '?pageSize=1000')).pageSize, 100);
});

t.test('reports all invalid parameters of a list at once', async (t) => {
  const { troupe, send } = await a2aFor(t);
  const ask = async (query: string) => {
    const answer = await troupe.call('GET', `/v1/a2a/tasks?${query}`);
    return [answer.status, ...violationsIn(answer).map(({ field }) => field)];
  };
  t.strictSame(await ask('status=nope&pageSize=-1&statusTimestampAfter=yesterday&includeArtifacts=1'), [
    400,
    'pageSize',
    'status',
    'includeArtifacts',
    'statusTimestampAfter',
  ]);
  t.strictSame(await ask('pageToken=7'), [400, 'pageToken']);
  for (const contextId of ['a', 'a']) await send({ tenant: 'echo', contextId });
  const { body } = await troupe.call('GET', '/v1/a2a/tasks?pageSize=1&contextId=a');
  t.strictSame(
    await ask(`pageToken=${body.nextPageToken}`),
    [400, 'pageToken'],
    'a page token belongs to its filters',
  );
});

t.test('cancels a queued, working or suspended task exactly once', async (t) => {
  const client = await a2aFor(t);
  const { send, begin, troupe } = client;
  const running = await begin({ tenant: 'slow', taskId: 'x', contextId: 'x' });
  const queued = await begin({ tenant: 'slow', contextId: 'x' });
  const first = await cancel(client, queued.id);
  t.match(first, { status: 200, body: { id: queued.id, status: { state: 'TASK_STATE_CANCELED' } } });
  t.strictSame(said(first.body as unknown as Task), ['user: Hello'], 'the input stays in the history');
  t.equal((await cancel(client, running.id)).status, 200, 'a task id takes precedence over a context id');
  await settled(client, running.id);
  troupe.models.steps.push(asks(['call-1', 'risky']));
  const waiting = await send({ tenant: 'steps' });
  t.match((await cancel(client, waiting.id)).body, { status: { state: 'TASK_STATE_CANCELED' } });
  for (const { id } of [queued, running, waiting]) {
    const again = await cancel(client, id);
    t.equal(again.status, 409);
    t.match(again.body, {
      error: {
        details: [{ reason: 'TASK_NOT_CANCELABLE', metadata: { taskId: id, state: 'TASK_STATE_CANCELED' } }],
      },
    });
    t.match((await troupe.call('GET', `/v1/runs/${id}`)).body, { termination_reason: { type: 'cancelled' } });
  }
  t.equal((await cancel(client, 'nobody')).status, 404);
});

t.test('returns the same tasks after a restart', async (t) => {
  const client = await a2aFor(t);
  const { send, get, troupe } = client;
  const done = await send({ tenant: 'echo' });
  troupe.models.steps.push(asks(['call-1', 'risky']));
  const waiting = await send({ tenant: 'steps', text: 'one' });
  const before = await list(client);
  await troupe.restart();
  t.strictSame(await get(done.id), done);
  t.strictSame(await list(client), before);
  t.strictSame(said(await send({ taskId: waiting.id, text: 'two' })), [
    'user: one',
    'user: two',
    'agent: echo: two',
  ]);
});
