import t, { type Test } from 'tap';
import { when } from '../../http/serve.ts';
import { startWebhook, stateIn } from '../../protocols/a2a/webhook.ts';
import { ADMIN_TOKEN, eventually, startTroupe, type Troupe } from '../troupe.ts';

/** Push configs are judged at each delivery: identity.md 1.5, and the second half of check 42. */

const bearer = (key: string) => ({ authorization: `Bearer ${key}`, 'a2a-version': '1.0' });
const admin = bearer(ADMIN_TOKEN);

type Service = {
  troupe: Troupe;
  hook: Awaited<ReturnType<typeof startWebhook>>;
  /** Calls as the admin. */
  change(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  key: string;
  keyId: string;
  /** The path of the config of Bob on his task, whose run waits for its model. */
  config: string;
};

/** Bob's task waits for its model, and its config has received the first event. */
const start = async (t: Test): Promise<Service> => {
  const troupe = await startTroupe(t, { settings: { identity: { anonymous: 'never' } } });
  const hook = await startWebhook(t);
  const change = async (method: string, path: string, body?: unknown) => {
    const answer = await troupe.call(method, path, body, admin);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const made = await change('POST', '/v1/keys', {
    name: 'bob',
    user: 'bob',
    new_user: { kind: 'person', grants: ['member', 'keys'] },
  });
  const key = String(made.key);
  const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const configuration = {
    returnImmediately: true,
    taskPushNotificationConfig: { id: 'c1', url: hook.url },
  };
  const sent = await troupe.call(
    'POST',
    '/v1/a2a/slow/message:send',
    { message, configuration },
    bearer(key),
  );
  const { id } = sent.body.task as { id: string };
  const config = `/v1/a2a/tasks/${id}/pushNotificationConfigs/c1`;
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  await when(() => hook.calls.length > 0);
  return { troupe, hook, change, key, keyId: String(made.id), config };
};

const finish = async ({ troupe, change, config }: Service): Promise<void> => {
  troupe.models.releaseAll();
  const run = config.split('/')[4];
  await eventually(
    () => change('GET', `/v1/runs/${run}`),
    ({ status }) => status === 'done',
  );
};

const hasEnded = ({ hook }: Service): boolean => hook.calls.some((call) => stateIn(call) === 'COMPLETED');

const REFUSING: Record<string, (service: Service) => Promise<unknown>> = {
  'a grant is taken': ({ change }) => change('PATCH', '/v1/users/bob', { grants: ['read:own'] }),
  'its user is disabled': ({ change }) => change('PATCH', '/v1/users/bob', { disabled: true }),
  'its key is narrowed': ({ change, keyId }) => change('PATCH', `/v1/keys/${keyId}`, { grants: ['decide'] }),
  'the owner of the task changes': async ({ change, config, troupe: { models } }) => {
    await change('POST', '/v1/users', { id: 'carol', kind: 'person', grants: ['member'] });
    const { thread_id } = await change('GET', `/v1/runs/${config.split('/')[4]}`);
    await change('PATCH', `/v1/threads/${thread_id}`, { owner: 'carol' });
    // The inference is repeated.
    await eventually(
      async () => models.waiting(),
      (count) => count === 1,
    );
  },
};

for (const [name, refuse] of Object.entries(REFUSING)) {
  t.test(`drops the events of a config when ${name}, and the config shows it (check 42)`, async (t) => {
    const service = await start(t);
    const { troupe, config, hook } = service;
    await refuse(service);
    const before = hook.calls.length;
    await finish(service);
    const shown = await eventually(
      async () => (await troupe.call('GET', config, undefined, admin)).body,
      ({ last_error }) => last_error !== undefined,
    );
    t.equal(shown.last_error, 'forbidden');
    t.equal(hook.calls.length, before, 'nothing was sent');
  });
}

t.test('sends later events again once the user has its rights back', async (t) => {
  const service = await start(t);
  const { change, troupe, config } = service;
  await change('PATCH', '/v1/users/bob', { grants: ['read:own'] });
  await change('PATCH', '/v1/users/bob', { grants: ['member'] });
  await finish(service);
  await when(() => hasEnded(service));
  t.notOk('last_error' in (await troupe.call('GET', config, undefined, admin)).body);
});

t.test('drops pending retries when the rights end (check 42)', async (t) => {
  const service = await start(t);
  const { hook, change, troupe, config } = service;
  const before = hook.calls.length;
  hook.answers.push(503);
  await finish(service);
  await when(() => hook.calls.length > before);
  await change('PATCH', '/v1/users/bob', { grants: ['read:own'] });
  const shown = await eventually(
    async () => (await troupe.call('GET', config, undefined, admin)).body,
    ({ last_error }) => last_error !== undefined,
  );
  t.equal(shown.last_error, 'forbidden');
  t.equal(hook.calls.length, before + 1, 'the first attempt only');
  t.notOk(hasEnded(service));
});

const ENDING: Record<string, (service: Service) => Promise<unknown>> = {
  'its key is revoked': ({ change, keyId }) => change('DELETE', `/v1/keys/${keyId}`),
  'its user is deleted': ({ change }) => change('DELETE', '/v1/users/bob'),
};

for (const [name, end] of Object.entries(ENDING)) {
  t.test(`a config no longer exists when ${name} (check 42)`, async (t) => {
    const service = await start(t);
    const { troupe, config, hook } = service;
    await end(service);
    const unknown = await troupe.call('GET', config.replace(/c1$/, 'c2'), undefined, admin);
    const gone = await troupe.call('GET', config, undefined, admin);
    t.equal(gone.status, 404);
    t.strictSame(JSON.stringify(gone.body).replace(/\bc1\b/g, 'c2'), JSON.stringify(unknown.body));
    const list = await troupe.call('GET', config.replace(/\/c1$/, ''), undefined, admin);
    t.match(list.body, { configs: [] });
    const before = hook.calls.length;
    await finish(service);
    await troupe.restart();
    t.equal(
      (await troupe.call('GET', config, undefined, admin)).status,
      404,
      'the restarted service has none',
    );
    t.equal(hook.calls.length, before, 'nothing was sent');
  });
}

t.test(
  'a rotation hands configs on, until the last key of the line is revoked (checks 15, 42)',
  async (t) => {
    const service = await start(t);
    const { troupe, change, keyId, key, config } = service;
    const rotated = await troupe.call('POST', `/v1/keys/${keyId}/rotate`, { grace_secs: 0 }, bearer(key));
    t.equal(rotated.status, 201);
    await finish(service);
    await when(() => hasEnded(service));
    t.equal((await troupe.call('GET', config, undefined, admin)).status, 200);
    await change('DELETE', `/v1/keys/${rotated.body.id}`);
    t.equal((await troupe.call('GET', config, undefined, admin)).status, 404);
  },
);

t.test('configs of an end user are judged by the key that acts for it', async (t) => {
  const service = await start(t);
  const { troupe, change, hook } = service;
  const made = await change('POST', '/v1/keys', {
    name: 'front',
    user: 'front',
    new_user: { kind: 'service', grants: ['act', 'member'] },
  });
  const head = { ...bearer(String(made.key)), 'x-service-user': 'end-user' };
  const message = { messageId: 'm-2', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const configuration = {
    returnImmediately: true,
    taskPushNotificationConfig: { id: 'c1', url: `${hook.url}/front` },
  };
  const sent = await troupe.call('POST', '/v1/a2a/slow/message:send', { message, configuration }, head);
  const { id } = sent.body.task as { id: string };
  const config = `/v1/a2a/tasks/${id}/pushNotificationConfigs/c1`;
  t.equal((await troupe.call('GET', config, undefined, head)).status, 200);
  await change('PATCH', '/v1/users/front', { grants: ['member'] });
  await finish({ ...service, config });
  const shown = await eventually(
    async () => (await troupe.call('GET', config, undefined, admin)).body,
    ({ last_error }) => last_error !== undefined,
  );
  t.equal(shown.last_error, 'forbidden');
});

t.test('a new user with the id of a deleted one does not receive its events', async (t) => {
  const service = await start(t);
  const { change, troupe, config } = service;
  await finish(service);
  await when(() => hasEnded(service));
  await change('DELETE', '/v1/users/bob');
  t.equal((await troupe.call('POST', '/v1/users', { id: 'bob', kind: 'person' }, admin)).status, 409);
  t.equal((await troupe.call('GET', config, undefined, admin)).status, 404);
});
