import t from 'tap';
import { A2aError } from '../../../src/protocols/a2a/errors.ts';
import { checkPushConfig } from '../../../src/protocols/a2a/push/config.ts';

const URL_OK = 'https://hooks.example/a';
const enclosing = { task_id: 't1', tenant: undefined };
const check = (config: unknown, of: Parameters<typeof checkPushConfig>[1] = enclosing) =>
  checkPushConfig(config, of, { newId: () => 'made-here' });

/** The fields that are wrong, with what is said of them. */
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

t.test('a config gets an id when it has none, and the task and tenant that it belongs to', async (t) => {
  t.same(check({ url: URL_OK }), { id: 'made-here', taskId: 't1', url: URL_OK });
  t.same(check({ url: URL_OK, id: 'mine', taskId: 't1', tenant: 'a' }, { task_id: 't1', tenant: 'a' }), {
    id: 'mine',
    taskId: 't1',
    tenant: 'a',
    url: URL_OK,
  });
});

t.test('null and blank are absent, and keys that are not known are left out', async (t) => {
  const config = { url: URL_OK, id: '', taskId: ' ', tenant: null, token: '', authentication: null, more: 1 };
  t.same(check(config), { id: 'made-here', taskId: 't1', url: URL_OK });
});

t.test('everything that is wrong is said at once, each under its field', async (t) => {
  const config = { url: 'ftp://x', taskId: 't2', tenant: 'b', authentication: { scheme: ' ' } };
  t.same(violations(config).sort(), [
    ['pushNotificationConfig.authentication.scheme', 'authentication scheme must not be empty'],
    ['pushNotificationConfig.taskId', 'push notification taskId must match the enclosing task'],
    ['pushNotificationConfig.tenant', 'push notification tenant must match the enclosing task tenant'],
    ['pushNotificationConfig.url', 'push notification URL must use http or https'],
  ]);
});

t.test('an address must be there and absolute', async (t) => {
  const expected = [['pushNotificationConfig.url', 'push notification URL must be an absolute URL']];
  for (const url of [undefined, null, 5, '', '/hook', 'hooks.example']) t.same(violations({ url }), expected);
});

t.test('the agent is taken from the first of its three names', async (t) => {
  const of = { task_id: 't1', tenant: 'a' };
  t.equal(check({ url: URL_OK, agentId: 'a', agent_id: 'b' }, of).tenant, 'a');
  t.throws(() => check({ url: URL_OK, agent_id: 'b' }, of), A2aError);
});

t.test('what no header can carry is refused here, not at each delivery', async (t) => {
  const fields = (config: object) => violations({ url: URL_OK, ...config }).map(([field]) => field);
  t.same(fields({ token: 'a\r\nb: c' }), ['pushNotificationConfig.token']);
  t.same(fields({ authentication: { scheme: 'Bearer', credentials: 'a\nb' } }), [
    'pushNotificationConfig.authentication.credentials',
  ]);
});

t.test('an id that cannot be stored is refused', async (t) => {
  t.match(violations({ url: URL_OK, id: 'x'.repeat(513) }), [['pushNotificationConfig.id']]);
});

t.test('what is no object is refused as a whole', async (t) => {
  for (const config of [5, 'x', [], null]) t.match(violations(config), [['pushNotificationConfig']]);
});
