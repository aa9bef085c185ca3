import t, { type Test } from 'tap';
import { when } from '../../http/serve.ts';
import { startWebhook, stateIn, taskIn } from '../../protocols/a2a/webhook.ts';
import { asks } from '../models.ts';
import { eventually, startTroupe, type Troupe, type TroupeOptions } from '../troupe.ts';
import { a2aFor } from './tasks-client.ts';

/** Push notifications from a real service to a real webhook (a2a.md 11, checks 39 to 43). */

const start = (t: Test, settings: TroupeOptions['settings'] = {}) =>
  startTroupe(t, { settings: { seed: { profile: 'minimal' }, ...settings } });

const send = async (troupe: Troupe, path: string, configuration: object = {}): Promise<string> => {
  const { status, body } = await troupe.post(`/v1/a2a/${path}message:send`, {
    message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
    configuration,
  });
  if (status !== 200) throw new Error(`not sent: ${JSON.stringify(body)}`);
  return (body as { task: { id: string } }).task.id;
};

const configsOf = (task: string, tenant = ''): string =>
  `/v1/a2a/${tenant}tasks/${task}/pushNotificationConfigs`;

t.test('notifies a config that arrives with a message until its task ends', async (t) => {
  const troupe = await start(t);
  const hook = await startWebhook(t);
  const taskPushNotificationConfig = {
    url: hook.url,
    token: 'tok',
    authentication: { scheme: 'Bearer', credentials: 'secret' },
  };
  const id = await send(troupe, 'echo/', { taskPushNotificationConfig });
  await when(() => hook.calls.some((call) => stateIn(call) === 'COMPLETED'));
  t.ok('statusUpdate' in (hook.calls[0]?.body ?? {}), 'the first event is a status');
  t.same(hook.calls.map(stateIn).slice(-2), ['artifact', 'COMPLETED']);
  for (const { headers, body } of hook.calls) {
    t.match(headers, { 'x-a2a-notification-token': 'tok', authorization: 'Bearer secret' });
    t.equal(headers['content-type'], 'application/a2a+json');
    t.equal(Object.keys(body).length, 1);
  }
  const { body } = await troupe.call('GET', configsOf(id));
  t.match(body, { configs: [{ taskId: id, tenant: 'echo', url: hook.url }], nextPageToken: '' });
});

t.test('creates a config together with its message in every send mode', async (t) => {
  const { begin, get, troupe } = await a2aFor(t);
  const hook = await startWebhook(t);
  const configuration = { taskPushNotificationConfig: { id: 'c1', url: hook.url } };
  const hasConfig = async (task: string, state: string): Promise<void> => {
    const { body } = await troupe.call('GET', configsOf(task));
    t.match(body, { configs: [{ id: 'c1', taskId: task }] }, task);
    await when(() => hook.calls.some((call) => taskIn(call) === task));
    t.equal(hook.calls.filter((call) => taskIn(call) === task).map(stateIn)[0], state, task);
  };
  const waiting = async (): Promise<boolean> =>
    (await get('asks', '?historyLength=0')).status.state === 'TASK_STATE_AUTH_REQUIRED';
  troupe.models.steps.push(asks(['call-1', 'risky']));
  await begin({ tenant: 'steps', taskId: 'asks', contextId: 'c' });
  await eventually(waiting, (is) => is);
  await begin({ tenant: 'slow', taskId: 'at-once', contextId: 'c', configuration });
  await hasConfig('at-once', 'WORKING');
  await begin({ tenant: 'echo', taskId: 'queued', contextId: 'c', configuration });
  await hasConfig('queued', 'SUBMITTED');
  await begin({ taskId: 'asks', text: 'go on', configuration });
  await hasConfig('asks', 'SUBMITTED');
  troupe.models.release();
  await when(() => hook.calls.some((call) => taskIn(call) === 'asks' && stateIn(call) === 'COMPLETED'));
});

t.test('creates a config together with a reply that is processed at once', async (t) => {
  const { begin, get, troupe } = await a2aFor(t);
  const hook = await startWebhook(t);
  troupe.models.steps.push(asks(['call-1', 'risky']));
  await begin({ tenant: 'steps', taskId: 'asks', contextId: 'c' });
  await eventually(
    () => get('asks'),
    ({ status }) => status.state === 'TASK_STATE_AUTH_REQUIRED',
  );
  await begin({
    taskId: 'asks',
    text: 'go on',
    configuration: { taskPushNotificationConfig: { id: 'c1', url: hook.url } },
  });
  await when(() => hook.calls.some((call) => stateIn(call) === 'COMPLETED'));
  t.equal(hook.calls.map(stateIn)[0], 'WORKING');
});

t.test('rejects a message with an invalid config', async (t) => {
  const troupe = await start(t);
  const { status, body } = await troupe.post('/v1/a2a/message:send', {
    message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
    configuration: { taskPushNotificationConfig: { url: 'ftp://x' } },
  });
  t.equal(status, 400);
  t.match(body, { error: { details: [{ fieldViolations: [{ field: 'pushNotificationConfig.url' }] }] } });
  t.match((await troupe.call('GET', '/v1/a2a/tasks')).body, { tasks: [], totalSize: 0 });
});

const PRIVATE = [
  'http://127.0.0.1:9/x',
  'http://2130706433/x',
  'http://[::1]:9/x',
  'http://[::ffff:10.0.0.1]/x',
  'http://169.254.169.254/latest/meta-data',
  'http://localhost:9/x',
  'http://db.localhost./x',
];

for (const [where, settings] of [
  ['a service on a public address', { http_addr: '0.0.0.0:0', identity: { anonymous: 'always' } }],
  ['a service with the setting for it', { a2a_push_block_private_hosts: true }],
] as const) {
  t.test(`${where} sends nothing to private addresses`, async (t) => {
    const troupe = await start(t, settings);
    const id = await send(troupe, 'echo/');
    const hook = await startWebhook(t);
    for (const url of [hook.url, ...PRIVATE]) {
      const refused = {
        error: {
          details: [
            {
              fieldViolations: [
                { field: 'pushNotificationConfig.url', description: /must lead to a public host/ },
              ],
            },
          ],
        },
      };
      t.match(await troupe.post(configsOf(id), { url }), { status: 400, body: refused }, url);
      const inline = await troupe.post('/v1/a2a/echo/message:send', {
        message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
        configuration: { taskPushNotificationConfig: { url } },
      });
      t.match(inline, { status: 400, body: refused }, url);
    }
    t.equal((await troupe.call('GET', '/v1/a2a/tasks')).body.totalSize, 1);
    t.equal((await troupe.post(configsOf(id), { url: 'https://hooks.invalid/x' })).status, 200);
    t.equal(hook.calls.length, 0);
  });
}

t.test('sends to private addresses from a public service if configured', async (t) => {
  const troupe = await start(t, {
    http_addr: '0.0.0.0:0',
    identity: { anonymous: 'always' },
    a2a_push_block_private_hosts: false,
  });
  const hook = await startWebhook(t);
  await send(troupe, 'echo/', { taskPushNotificationConfig: { url: hook.url } });
  await when(() => hook.calls.some((call) => stateIn(call) === 'COMPLETED'));
});

t.test('creates, lists, reads, replaces and deletes configs of a finished task', async (t) => {
  const troupe = await start(t);
  const hook = await startWebhook(t);
  const id = await send(troupe, '');
  const created = await troupe.post(configsOf(id), { url: hook.url });
  t.equal(created.status, 200);
  t.match(created.body, { id: /^[0-9a-f]{8}-[0-9a-f]{4}-7/, taskId: id, url: hook.url });
  t.notOk('tenant' in created.body);
  await when(() => hook.calls.length === 1);
  t.same(hook.calls.map(stateIn), ['COMPLETED']);

  const path = `${configsOf(id)}/${created.body.id}`;
  t.same((await troupe.call('GET', path)).body, created.body);
  t.same((await troupe.call('GET', configsOf(id))).body, { configs: [created.body], nextPageToken: '' });
  const replaced = await troupe.post(configsOf(id), {
    id: created.body.id,
    url: `${hook.url}/2`,
    taskId: id,
  });
  t.same((await troupe.call('GET', configsOf(id))).body, { configs: [replaced.body], nextPageToken: '' });

  for (const _ of ['first', 'again']) {
    const gone = await troupe.call('DELETE', path);
    t.same([gone.status, gone.body], [204, { text: '' }]);
  }
  const missing = await troupe.call('GET', path);
  t.match(
    [missing.status, missing.body],
    [
      404,
      {
        error: {
          status: 'NOT_FOUND',
          message: `push notification config not found for task ${id}: ${created.body.id}`,
          details: [
            { reason: 'TASK_NOT_FOUND', metadata: { taskId: id, configId: String(created.body.id) } },
          ],
        },
      },
    ],
  );
});

t.test('returns 404 on every config route for an unknown task', async (t) => {
  const troupe = await start(t);
  for (const [method, path, body] of [
    ['POST', configsOf('nobody'), { url: 'https://x.example' }],
    ['GET', configsOf('nobody'), undefined],
    ['GET', `${configsOf('nobody')}/c`, undefined],
    ['DELETE', `${configsOf('nobody')}/c`, undefined],
  ] as const) {
    const answer = await troupe.call(method, path, body);
    t.match([answer.status, answer.body], [404, { error: { details: [{ reason: 'TASK_NOT_FOUND' }] } }]);
  }
  t.match((await troupe.call('GET', configsOf('x', 'nobody/'))).body, {
    error: { message: 'agent not found: nobody' },
  });
});

t.test('separates configs by tenant, and shows and removes all of them without one', async (t) => {
  const troupe = await start(t);
  const hook = await startWebhook(t);
  const id = await send(troupe, 'echo/');
  const own = await troupe.post(configsOf(id, 'echo/'), { id: 'c', url: hook.url, tenant: 'echo' });
  t.match(own.body, { id: 'c', tenant: 'echo' });
  const common = await troupe.post(configsOf(id), { id: 'c', url: `${hook.url}/common` });
  t.notOk('tenant' in common.body);

  t.same((await troupe.call('GET', configsOf(id, 'echo/'))).body, { configs: [own.body], nextPageToken: '' });
  t.equal(
    (await troupe.call('GET', configsOf(id, 'default/'))).status,
    404,
    'the task belongs to another agent',
  );
  t.match((await troupe.call('GET', configsOf(id))).body, { configs: [common.body, own.body] });
  t.same((await troupe.call('GET', `${configsOf(id)}/c`)).body, common.body);

  await troupe.call('DELETE', `${configsOf(id, 'echo/')}/c`);
  t.same((await troupe.call('GET', configsOf(id))).body, { configs: [common.body], nextPageToken: '' });
  await troupe.post(configsOf(id, 'echo/'), { id: 'c', url: hook.url });
  await troupe.call('DELETE', `${configsOf(id)}/c`);
  t.same((await troupe.call('GET', configsOf(id))).body, { configs: [], nextPageToken: '' });
});

t.test('rejects values that contradict the task under their field', async (t) => {
  const troupe = await start(t);
  const id = await send(troupe, 'echo/');
  const fieldsOf = async (path: string, config: object): Promise<unknown> => {
    const { status, body } = await troupe.post(path, config);
    if (status !== 400) return status;
    const { error } = body as { error: { details: { fieldViolations: { field: string }[] }[] } };
    return error.details[0]?.fieldViolations.map(({ field }) => field);
  };
  const url = 'https://x.example';
  t.same(await fieldsOf(configsOf(id), { url, taskId: 'other' }), ['pushNotificationConfig.taskId']);
  t.same(await fieldsOf(configsOf(id, 'echo/'), { url, tenant: 'default' }), [
    'pushNotificationConfig.tenant',
  ]);
  t.same(await fieldsOf(configsOf(id), { url, agent_id: 'default' }), ['pushNotificationConfig.tenant']);
  t.same(await fieldsOf(configsOf(id), { url: 'ftp://x', authentication: { scheme: '' } }), [
    'pushNotificationConfig.url',
    'pushNotificationConfig.authentication.scheme',
  ]);
});

t.test('lists each config once in pages, ordered by id', async (t) => {
  const troupe = await start(t);
  const hook = await startWebhook(t);
  const id = await send(troupe, '');
  for (const name of ['b', 'a', 'c']) await troupe.post(configsOf(id), { id: name, url: hook.url });
  const seen: string[] = [];
  let token = '';
  do {
    const { body } = await troupe.call('GET', `${configsOf(id)}?pageSize=1&pageToken=${token}`);
    const page = body as { configs: { id: string }[]; nextPageToken: string };
    seen.push(...page.configs.map((config) => config.id));
    token = page.nextPageToken;
  } while (token !== '');
  t.same(seen, ['a', 'b', 'c']);
  t.match((await troupe.call('GET', `${configsOf(id)}?pageSize=0`)).body, { configs: [{ id: 'a' }] });
  for (const [query, field] of [
    ['pageSize=-1', 'pageSize'],
    ['pageSize=x', 'pageSize'],
    ['pageToken=nonsense', 'pageToken'],
  ]) {
    const { status, body } = await troupe.call('GET', `${configsOf(id)}?${query}`);
    t.match([status, body], [400, { error: { details: [{ fieldViolations: [{ field }] }] } }]);
  }
});

t.test('notifies about a task that continues in a new process', async (t) => {
  const troupe = await start(t);
  const hook = await startWebhook(t);
  const taskPushNotificationConfig = { url: hook.url };
  const id = await send(troupe, 'slow/', { returnImmediately: true, taskPushNotificationConfig });
  await when(() => troupe.models.waiting() === 1 && hook.calls.some((call) => stateIn(call) === 'WORKING'));
  await troupe.restart();
  await when(() => troupe.models.waiting() === 1);
  troupe.models.release();
  await eventually(
    () => troupe.call('GET', `/v1/a2a/tasks/${id}`),
    ({ body }) => JSON.stringify(body.status).includes('COMPLETED'),
  );
  await when(() => hook.calls.some((call) => stateIn(call) === 'COMPLETED'));
  t.equal(hook.calls.filter((call) => stateIn(call) === 'COMPLETED').length, 1);
});

t.test('rejects configs when push is disabled', async (t) => {
  const troupe = await start(t, { a2a_push_enabled: false });
  const id = await send(troupe, '');
  const answer = await troupe.post(configsOf(id), { url: 'https://x.example' });
  t.match(
    [answer.status, answer.body],
    [400, { error: { details: [{ reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' }] } }],
  );
});
