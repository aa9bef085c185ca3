import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { startPeer } from '../../mcp/http-peer.ts';
import { type Plane, startPlane } from './plane.ts';

/** Validation of entries over HTTP: config.md 3 and 16, checks 16, 20, 22 to 26. */

const refuses = async (
  { post }: Plane,
  namespace: string,
  table: readonly (readonly [object, RegExp])[],
): Promise<[object, number, unknown][]> => {
  const wrong: [object, number, unknown][] = [];
  for (const [body, error] of table) {
    const answer = await post(`/v1/config/${namespace}`, body);
    if (answer.status !== 400 || !error.test(String(answer.body.error))) {
      wrong.push([body, answer.status, answer.body]);
    }
  }
  return wrong;
};

t.test('validates the key of a service account, and never returns it', async (t) => {
  const plane = await startPlane(t);
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const account = { client_email: 'me@project.test', private_key: privateKey };
  const vertex = (api_key: string, adapter = 'vertex') => ({
    id: 'v',
    adapter,
    api_key,
    base_url: 'http://127.0.0.1:9/',
    adapter_options: { credentials_kind: 'service_account_json' },
  });
  t.strictSame(
    await refuses(plane, 'providers', [
      [vertex(JSON.stringify(account), 'openai'), /vertex/],
      [vertex('not json'), /./],
      [vertex('{}'), /client_email/],
    ]),
    [],
  );
  const answers = [
    await plane.post('/v1/config/providers', vertex(JSON.stringify(account))),
    await plane.get('/v1/config/providers/v'),
    await plane.get('/v1/config/providers'),
    await plane.get('/v1/audit-log'),
  ];
  t.equal(answers[0]?.status, 201);
  for (const { body } of answers) t.notMatch(JSON.stringify(body), /me@project|BEGIN/);
});

t.test('allows all tools to an agent by default', async (t) => {
  const { post, get } = await startPlane(t);
  await post('/v1/config/agents', { id: 'all', model_id: 'default' });
  t.match((await get('/v1/config/agents/all')).body, { allowed_tools: null, allowed_tool_patterns: ['*'] });
  t.match((await post('/v1/config/agents', { id: 'one', model_id: 'default', allowed_tools: ['A'] })).body, {
    allowed_tools: ['A'],
    allowed_tool_patterns: null,
  });
  const star = { id: 'star', model_id: 'default', allowed_tools: ['*'] };
  t.equal((await post('/v1/config/agents', star)).status, 201);
  const dangling = { id: 'bad', model_id: 'default', allowed_tool_patterns: ['foo\\'] };
  t.match((await post('/v1/config/agents', dangling)).body, { error: /dangling escape/ });
});

t.test('limits stop conditions', async (t) => {
  const plane = await startPlane(t);
  const agent = (condition: object) => ({ id: 'a', model_id: 'default', stop_conditions: [condition] });
  t.strictSame(
    await refuses(plane, 'agents', [
      [agent({ type: 'timeout', seconds: 86_401 }), /timeout\.seconds must be <= 86400, got 86401/],
      [agent({ type: 'loop_detection', window: 65 }), /window/],
      [agent({ type: 'content_match', pattern: '(' }), /content_match\.pattern must be valid regex/],
      [agent({ type: 'whatever' }), /./],
    ]),
    [],
  );
});

t.test('masks the token of a remote agent, and keeps it when the mask is written back', async (t) => {
  const plane = await startPlane(t);
  const { get, post, put, troupe } = plane;
  const endpoint = { base_url: 'https://r.example/a2a', auth: { type: 'bearer', token: 'remote-secret' } };
  const created = await post('/v1/config/agents', { id: 'far', endpoint });
  t.equal(created.status, 201);
  const hidden = {
    endpoint: { auth: { token: '***' } },
    backend: { kind: 'a2a', config: { auth: { token: '***' } } },
  };
  t.match(created.body, hidden);
  const shown = (await get('/v1/config/agents/far')).body;
  t.match(shown, hidden);
  const changed = await put('/v1/config/agents/far', { ...shown, description: 'changed' });
  t.match(changed, { status: 200, body: hidden });
  const marked = { ...endpoint, auth: { type: 'bearer', token: '***' } };
  const basic = { ...endpoint, auth: { type: 'basic', token: 'basic-secret' } };
  t.strictSame(
    await refuses(plane, 'agents', [
      [{ id: 'b', endpoint: { base_url: 'https://r.example/?x=1' } }, /must not contain a query string/],
      [{ id: 'b', endpoint: { base_url: 'ftp://r.example' } }, /must use http:\/\/ or https:\/\//],
      [{ id: 'b', endpoint: basic }, /^(?!.*basic-secret).*auth type 'basic' is unsupported/],
      [{ id: 'b', endpoint: marked }, /auth token cannot be a redacted placeholder/],
    ]),
    [],
  );
  await troupe.restart();
  const again = await put('/v1/config/agents/far', { ...shown, description: 'once more' });
  t.equal(again.status, 200, 'the token is still stored');
});

t.test('sets, keeps and clears the environment of an MCP server without returning it', async (t) => {
  const plane = await startPlane(t);
  const { get, post, put } = plane;
  const http = { id: 'm', transport: 'http' };
  t.strictSame(
    await refuses(plane, 'mcp-servers', [
      [{ id: 'm', transport: 'stdio' }, /stdio mcp server requires a non-empty command/],
      [http, /http mcp server requires a non-empty url/],
      [{ ...http, url: 'ftp://h' }, /http mcp server url must use http or https/],
    ]),
    [],
  );
  const { url } = await startPeer(t);
  const server = { id: 's', transport: 'http', url };
  const validated = async (more: object) =>
    (await post('/v1/config/mcp-servers/validate', { ...server, ...more })).body.normalized;
  t.match(await validated({ env: { B: 'env-secret', A: '1' } }), { has_env: true, env_keys: ['A', 'B'] });
  const saved = await post('/v1/config/mcp-servers', { ...server, env: { B: 'env-secret', A: '1' } });
  t.match(saved, { status: 201, body: { has_env: true, env_keys: ['A', 'B'] } });
  t.match((await put('/v1/config/mcp-servers/s', server)).body, { env_keys: ['A', 'B'] });
  t.notMatch((await get('/v1/config/mcp-servers')).body, 'env-secret');
  t.strictSame((await put('/v1/config/mcp-servers/s', { ...server, env: {} })).body, server);
});

t.test('validates the address and limits the timeout of an A2A server', async (t) => {
  const plane = await startPlane(t);
  const { get, post, put } = plane;
  const server = { id: 's', base_url: 'http://127.0.0.1:9' };
  t.strictSame(
    await refuses(plane, 'a2a-servers', [
      [{ ...server, timeout_ms: 30_001 }, /must be less than or equal to 30000/],
      [{ ...server, timeout_ms: 0 }, /must be greater than 0/],
      [{ ...server, base_url: 'nowhere' }, /must be a valid URL/],
      [{ ...server, future: 1 }, /unknown field 'future'/],
    ]),
    [],
  );
  const auth = { type: 'bearer', token: 'a2a-secret' };
  t.strictSame((await post('/v1/config/a2a-servers', { ...server, auth })).body, {
    ...server,
    has_auth: true,
  });
  t.match((await put('/v1/config/a2a-servers/s', server)).body, { has_auth: true });
  t.strictSame((await put('/v1/config/a2a-servers/s', { ...server, auth: null })).body, server);
  t.strictSame((await get('/v1/config/a2a-servers/s')).body, server);
});

t.test('rejects an invalid skill with the reason, and returns a valid one with its defaults', async (t) => {
  const plane = await startPlane(t);
  const skill = { id: 'db', name: 'DB', description: 'd', instructions_md: 'Do it.' };
  t.strictSame(
    await refuses(plane, 'skills', [
      [{ ...skill, id: 'DB' }, /field 'id' must be lowercase/],
      [{ ...skill, id: 'a--b' }, /./],
      [{ ...skill, id: 'a'.repeat(65) }, /./],
      [
        { ...skill, paths: ['x'] },
        /paths are not supported for DB-managed skills until resources are persisted/,
      ],
      [{ ...skill, allowed_tools: ['Bash(ls)'] }, /scoped allowed_tools entry 'Bash\(ls\)' is not supported/],
      [{ ...skill, allowed_tools: ['/(/'] }, /invalid allowed-tools pattern/],
      [
        { ...skill, allowed_tools: ['no_such_tool'] },
        /skill 'db' allowed_tools references unknown tool 'no_such_tool'/,
      ],
    ]),
    [],
  );
  t.equal((await plane.post('/v1/config/skills', skill)).status, 201);
  t.match((await plane.get('/v1/config/skills/db')).body, { context: 'inline', user_invocable: true });
});
