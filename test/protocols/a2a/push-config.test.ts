import t from 'tap';
import { A2aError } from '../../../src/protocols/a2a/errors.ts';
import { checkPushConfig } from '../../../src/protocols/a2a/push/config.ts';

const URL_OK = 'https://hooks.example/a';
const enclosing = { task_id: 't1', tenant: undefined };
const check = (config: unknown, of: Parameters<typeof checkPushConfig>[1] = enclosing) =>
  checkPushConfig(config, of, { newId: () => 'made-here' });

/** The invalid fields with their errors. */
const violations = (config: unknown, of = enclosing): [string, string][] => {
  try {
    check(config, of);
  } catch (error) {
    if (!(error instanceof A2aError)) throw error;
    return error.details.flatMap((detail) =>
      'fieldViolations' in detail
        ? detail.fieldViolations.map(({ field, description }): [string, string] => [field, description])
        : [],
    );
  }
  return [];
};

t.test('fills a missing id, the task and the tenant of a config', async (t) => {
  t.same(check({ url: URL_OK }), { id: 'made-here', taskId: 't1', url: URL_OK });
  t.same(check({ url: URL_OK, id: 'mine', taskId: 't1', tenant: 'a' }, { task_id: 't1', tenant: 'a' }), {
    id: 'mine',
    taskId: 't1',
    tenant: 'a',
    url: URL_OK,
  });
});

t.test('treats null and blank as absent, and drops unknown keys', async (t) => {
  const config = { url: URL_OK, id: '', taskId: ' ', tenant: null, token: '', authentication: null, more: 1 };
  t.same(check(config), { id: 'made-here', taskId: 't1', url: URL_OK });
});

t.test('reports all invalid fields at once under their names', async (t) => {
  const config = { url: 'ftp://x', taskId: 't2', tenant: 'b', authentication: { scheme: ' ' } };
  t.same(violations(config).sort(), [
    ['pushNotificationConfig.authentication.scheme', 'authentication scheme must not be empty'],
    ['pushNotificationConfig.taskId', 'push notification taskId must match the enclosing task'],
    ['pushNotificationConfig.tenant', 'push notification tenant must match the enclosing task tenant'],
    ['pushNotificationConfig.url', 'push notification URL must use http or https'],
  ]);
});

t.test('requires an absolute URL', async (t) => {
  const expected = [['pushNotificationConfig.url', 'push notification URL must be an absolute URL']];
  for (const url of [undefined, null, 5, '', '/hook', 'hooks.example']) t.same(violations({ url }), expected);
});

t.test('takes the agent from the first of its three names', async (t) => {
  const of = { task_id: 't1', tenant: 'a' };
  t.equal(check({ url: URL_OK, agentId: 'a', agent_id: 'b' }, of).tenant, 'a');
  t.throws(() => check({ url: URL_OK, agent_id: 'b' }, of), A2aError);
});

t.test('rejects values that no header can carry', async (t) => {
  const fields = (config: object) => violations({ url: URL_OK, ...config }).map(([field]) => field);
  t.same(fields({ token: 'a\r\nb: c' }), ['pushNotificationConfig.token']);
  t.same(fields({ authentication: { scheme: 'Bearer', credentials: 'a\nb' } }), [
    'pushNotificationConfig.authentication.credentials',
  ]);
});

t.test('rejects an id that cannot be stored', async (t) => {
  t.match(violations({ url: URL_OK, id: 'x'.repeat(513) }), [['pushNotificationConfig.id']]);
});

t.test('rejects a config that is not an object', async (t) => {
  for (const config of [5, 'x', [], null]) t.match(violations(config), [['pushNotificationConfig']]);
});
