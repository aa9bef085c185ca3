import t, { type Test } from 'tap';
import { createA2aDiscovery } from '../../../src/a2a/discovery.ts';
import { startSseServer } from '../../models/sse-server.ts';
import { eventually } from '../../service/troupe.ts';
import { CALLER, type Plane, startPlane } from './plane.ts';

/** Secrets that a restore does not bring: identity.md 1.2 rule 5, check 57. */

const dropped = ({ service }: Plane): string[] =>
  service
    .diagnostics()
    .flatMap(({ resource: { namespace, id }, ...found }) =>
      found.code === 'secret_dropped' && 'field' in found ? `${namespace}/${id} ${found.field}` : [],
    );

const restoreFirst = (plane: Plane, resource: string) => {
  const [namespace = '', id = ''] = resource.split('/');
  return plane.service.restore(namespace, id, plane.events(resource)[0]?.id ?? '', CALLER);
};

const cardServer = (t: Test) =>
  startSseServer(t, (response, { headers }) => {
    const card = {
      name: 'Helper',
      description: 'helps',
      version: '1',
      url: `http://${headers.host}`,
      capabilities: {},
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [],
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(card));
  });

t.test('a2a-servers: a restored token is received by no other address', async (t) => {
  const [older, newer] = [await cardServer(t), await cardServer(t)];
  const a2a = createA2aDiscovery({
    clock: { now: Date.now },
    log: { warn: () => {} },
    changed: () => {},
    mayConnect: () => true,
  });
  t.teardown(() => a2a.close());
  const plane = await startPlane(t, { more: { a2a } });
  const at = (base_url: string, token?: string) => ({
    id: 's',
    base_url,
    ...(token !== undefined && { auth: { type: 'bearer', token } }),
  });
  const asked = (place: typeof older, times: number): Promise<number> =>
    eventually(
      async () => place.requests.length,
      (count) => count >= times,
    );
  await plane.create('a2a-servers', at(older.url, 'key-of-the-older'));
  await asked(older, 1);
  await plane.put('a2a-servers', at(newer.url, 'key-of-the-newer'));
  await asked(newer, 1);
  const before = older.requests.length;

  const restored = await restoreFirst(plane, 'a2a-servers/s');
  t.match(restored, { base_url: older.url, has_auth: undefined });
  t.strictSame(dropped(plane), ['a2a-servers/s auth.token']);
  await plane.put('models', { id: 'm', provider_id: 'p', upstream_model: 'published' });
  await asked(older, before + 1);
  const tokens = (place: typeof older) => place.requests.map(({ headers }) => headers.authorization);
  t.strictSame(new Set(tokens(older).slice(0, before)), new Set(['Bearer key-of-the-older']));
  t.strictSame(new Set(tokens(older).slice(before)), new Set([undefined]));
  t.strictSame(new Set(tokens(newer)), new Set(['Bearer key-of-the-newer']));

  await t.rejects(plane.put('a2a-servers', { ...at(newer.url), auth: { type: 'bearer', token: '***' } }), {
    message: /redacted placeholder/,
  });
  t.strictSame(dropped(plane), ['a2a-servers/s auth.token'], 'a refused write changes nothing');
  await plane.put('a2a-servers', at(newer.url, 'key-of-the-newer'));
  t.strictSame(dropped(plane), []);
});

t.test('a restored program receives no secret of the stored one', async (t) => {
  const plane = await startPlane(t);
  const at = (command: string, secret: string) => ({
    id: 's',
    transport: 'stdio',
    command,
    args: ['--token', `arg-of-${secret}`, '-v'],
    env: { TOKEN: `env-of-${secret}` },
  });
  await plane.create('mcp-servers', at('older', 'one'));
  await plane.put('mcp-servers', at('newer', 'two'));
  t.match(await restoreFirst(plane, 'mcp-servers/s'), { command: 'older', has_env: undefined });
  t.strictSame(dropped(plane), ['mcp-servers/s args', 'mcp-servers/s env.TOKEN']);
  t.notMatch(JSON.stringify(plane.store.config.get('mcp-servers', 's')?.spec), /-of-(one|two)/);
});

t.test('a deleted entry is restored without its secrets, which are reported across restarts', async (t) => {
  const plane = await startPlane(t);
  await plane.create('providers', { id: 'real', adapter: 'groq', api_key: 'sk-secret' });
  await plane.remove('providers', 'real');
  await restoreFirst(plane, 'providers/real');
  t.strictSame(dropped(plane), ['providers/real api_key']);
  await plane.restart();
  t.strictSame(dropped(plane), ['providers/real api_key']);
  await plane.create('agents', plane.agent('other'));
  t.strictSame(dropped(plane), ['providers/real api_key'], 'a publication keeps the report');
  await plane.remove('providers', 'real');
  t.strictSame(dropped(plane), []);
});

t.test('an application of Azure is dropped as a whole', async (t) => {
  const plane = await startPlane(t);
  const at = (resource: string) => ({
    id: 'az',
    adapter: 'azure',
    adapter_options: { resource, tenant_id: 't', client_id: 'app', client_secret: 'hush' },
  });
  await plane.create('providers', at('one'));
  await plane.put('providers', at('two'));
  t.match(await restoreFirst(plane, 'providers/az'), { adapter_options: { resource: 'one' } });
  t.strictSame(plane.service.providerSpec('az').adapter_options, { resource: 'one' });
  t.strictSame(dropped(plane), ['providers/az adapter_options.client_secret']);
});
