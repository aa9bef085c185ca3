import t from 'tap';
import { createLog } from '../../src/observability/log.ts';
import { maskCredentials } from '../../src/schema/redaction/credentials.ts';
import { asks } from './models.ts';
import { withTools } from './suspended.ts';
import { ADMIN_TOKEN } from './troupe.ts';

/** Credentials in logs, errors, traces, audit and events: identity.md 7, check 97. */

const bearer = (key: unknown) => ({ authorization: `Bearer ${key}` });
const ADMIN = bearer(ADMIN_TOKEN);
const BODY = 'ab3'.repeat(16);
const SECRETS = {
  key: `tpk_${BODY}Z`,
  session: `tps_${BODY}Y`,
  ticket: `tpt_${BODY}X`,
  jwt: `eyJhbGciOiJSUzI1NiJ9.${'eyJzdWIiOiJhbGljZSJ9'}.${'c2ln'.repeat(20)}`,
};
const CODE = 'once-only-code-of-a-sign-in';

t.test('masks credentials by their form, and nothing else', async (t) => {
  for (const secret of Object.values(SECRETS)) {
    t.notMatch(maskCredentials(`a ${secret} b`), secret);
    t.match(maskCredentials(`a ${secret} b`), /^a \*\*\* b$/);
  }
  t.equal(maskCredentials(`/x?ticket=${CODE}&a=1#code=${CODE}`), '/x?ticket=***&a=1#code=***');
  for (const text of ['tpk_9fK3…a1Q7', 'the state is open', 'error_code=5', 'eyJ', '?zipcode=1234'])
    t.equal(maskCredentials(text), text);
});

t.test('no record holds a credential after a full tour (check 97)', async (t) => {
  const lines: string[] = [];
  const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
  const { troupe } = await withTools(t, {
    app: { log },
    settings: {
      event_capture_mode: 'full_fidelity',
      observe_all_agents: true,
      trace: { capture_content: true, capture_tool_io: 'arguments_and_results', sampling_disable: true },
      AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_trace_routes: true },
    },
  });
  const everything = Object.values(SECRETS).join(' ');
  const answers: unknown[] = [];
  const call = async (method: string, path: string, body?: unknown, head: Record<string, string> = ADMIN) => {
    const { status, body: answer } = await troupe.call(method, path, body, head);
    if (status >= 400) answers.push(answer);
    return { status, answer };
  };
  const permission = { rules: [{ tool: 'note', behavior: 'ask' }] };
  const agent = { id: 'own', model_id: 'steps', plugin_ids: ['permission'], sections: { permission } };
  await call('PUT', '/v1/config/agents/own', { ...agent, description: everything });
  await call('DELETE', '/v1/config/agents/own', undefined, { ...ADMIN, 'x-service-actor': SECRETS.ticket });
  await call('PUT', '/v1/config/agents/own', agent);
  for (const secret of Object.values(SECRETS)) {
    await call('GET', '/v1/threads', undefined, bearer(secret));
    await call('GET', `/v1/system/info?ticket=${CODE}`, undefined, bearer(secret));
    await call('GET', `/v1/agents/${secret}`);
    await call('GET', `/nowhere/${secret}?code=${CODE}&state=${CODE}`);
    const messages = [{ role: 'user', content: 'x' }];
    await call('POST', '/v1/runs', { agentId: secret, threadId: 't0', messages });
    await call('POST', '/v1/users', { id: `u ${secret} `, kind: secret });
  }
  troupe.models.steps.push(
    asks(['c1', 'note', { text: everything, link: `https://a.example/cb?code=${CODE}` }]),
  );
  const messages = [{ role: 'user', content: `Remember ${everything}` }];
  await troupe.runToEnd({ agentId: 'own', threadId: 't1', messages });
  const reason = `because of ${everything}`;
  const denied = {
    toolCallId: 'perm_c1',
    action: 'cancel',
    payload: { approved: false, note: everything },
    reason,
  };
  t.equal((await troupe.post('/v1/threads/t1/decision', denied)).status, 202);
  const records: Record<string, string> = { logs: lines.join('\n'), errors: JSON.stringify(answers) };
  for (const path of [
    '/v1/threads/t1/events?limit=500',
    '/v1/audit-log?limit=500',
    '/v1/access-log?limit=500',
    '/v1/traces',
    '/metrics',
  ]) {
    const { status, body } = await troupe.call('GET', path, undefined, ADMIN);
    t.equal(status, 200, path);
    records[path] = JSON.stringify(body);
  }
  const traces = JSON.parse(records['/v1/traces'] ?? '{}').runs as { run_id: string }[];
  for (const { run_id } of traces) {
    const { status, body } = await troupe.call('GET', `/v1/traces/${run_id}`, undefined, ADMIN);
    if (status === 200) records[`trace ${run_id}`] = JSON.stringify(body);
  }
  t.ok(
    Object.keys(records).some((name) => name.startsWith('trace ')),
    'a trace is read',
  );
  for (const [name, text] of Object.entries(records)) {
    t.ok(text.length > 10, `${name} is not empty`);
    for (const [kind, secret] of Object.entries({ ...SECRETS, code: CODE, admin: ADMIN_TOKEN }))
      t.notOk(text.includes(secret), `${name} holds no ${kind}`);
  }
});
