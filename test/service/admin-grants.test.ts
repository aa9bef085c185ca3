import t from 'tap';
import { admin } from './budget.ts';
import { withUsers } from './users.ts';

/** Grants of the admin API are separate by namespace, and none of them includes another one (identity.md 2.3, check 55). */

const AGENT = { id: 'x', model_id: 'echo' };
const SERVER = { id: 's', transport: 'http', url: 'https://mcp.example/mcp' };
const PROVIDER = { id: 'p', adapter: 'openai', base_url: 'https://models.example/v1' };

t.test('`observe` reads, and `configure:agents` changes agents only (check 55)', async (t) => {
  const service = await withUsers(t);
  const observer = service.user('olga', 'observe');
  t.equal((await observer.get('/v1/config/agents')).status, 200);
  t.match(await observer.call('PUT', '/v1/config/agents/x', AGENT), {
    status: 403,
    body: { needs: ['configure:agents'] },
  });
  const author = service.user('ada', 'configure:agents');
  t.equal((await author.call('PUT', '/v1/config/agents/x', AGENT)).status, 200);
  t.match(await author.call('PUT', '/v1/config/providers/p', PROVIDER), {
    status: 403,
    body: { needs: ['configure:providers'] },
  });
});

t.test('no pattern includes MCP servers, which start programs (check 55)', async (t) => {
  const service = await withUsers(t);
  for (const grant of ['configure', 'configure:*']) {
    const author = service.user('ada', grant);
    t.match(
      await author.call('PUT', '/v1/config/mcp-servers/s', SERVER),
      { status: 403, body: { needs: ['configure:mcp-servers'] } },
      grant,
    );
  }
  const key = {
    name: 'k',
    user: 'robot',
    new_user: { kind: 'service', grants: ['configure:mcp-servers'] },
  };
  const manager = service.user('max', 'manage', 'configure:mcp-servers');
  t.equal((await manager.post('/v1/keys', key)).status, 403, 'a manager cannot give the grant');
  t.equal((await service.call('POST', '/v1/keys', key, admin)).status, 201);
});

t.test('`evaluate` does not invoke agents (check 55)', async (t) => {
  const service = await withUsers(t);
  const fixture = { id: 'f', user_input: 'Hello' };
  const dataset = { id: 'D', spec: { fixtures: [fixture] } };
  const made = await service.call('POST', '/v1/eval/datasets', dataset, admin);
  t.ok(made.status < 300, JSON.stringify(made.body));
  const run = { dataset_id: 'D', agent_id: 'echo', models: ['echo'], async: true };
  t.match(await service.user('eve', 'evaluate').post('/v1/eval/runs', run), {
    status: 403,
    body: { needs: ['invoke:echo'] },
  });
});
