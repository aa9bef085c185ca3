import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { applyPlan } from '../../../src/commands/config/apply.ts';
import { readBundle, writeDocument } from '../../../src/commands/config/bundle.ts';
import { exportBundle } from '../../../src/commands/config/export.ts';
import { type Plan, planImport, renderPlan } from '../../../src/commands/config/plan.ts';
import { connectService } from '../../../src/commands/config/service.ts';
import { type Ended, runHere } from '../../e2e/in-process.ts';
import { runCommand } from '../../e2e/service.ts';
import { ADMIN_TOKEN } from '../troupe.ts';
import { model, type Plane, provider, startPlane } from './plane.ts';

/** `troupe config`: export and import of the configuration as files. */

const TOKEN = { SERVICE_ADMIN_API_BEARER_TOKEN: ADMIN_TOKEN };

const config = (url: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  runHere(['config', ...args, '--url', url], { ...TOKEN, ...env });

const remote = ({ troupe }: Plane) => connectService({ url: troupe.url, token: ADMIN_TOKEN });

/** Writes the text to a file, and plans its import. */
const planOf = async (
  t: Test,
  plane: Plane,
  text: string,
  { prune = false, env = {} }: { prune?: boolean; env?: Record<string, string> } = {},
): Promise<Plan> => {
  const file = join(t.testdirName, 'config.yaml');
  writeFileSync(file, text);
  return planImport(remote(plane), await readBundle(file, env), { prune });
};

const NAMESPACES = [
  'providers',
  'models',
  'model-pools',
  'mcp-servers',
  'a2a-servers',
  'skills',
  'agents',
  'tools',
];

/** The configuration as runs would see it: every entry with its overrides. */
const effective = async ({ get }: Plane): Promise<Record<string, unknown>> =>
  Object.fromEntries(
    await Promise.all(
      NAMESPACES.map(async (name) => [name, (await get(`/v1/config/${name}`)).body.items] as const),
    ),
  );

const prompt = `Literal \${HOME} and $\${HOME}, *** and
  ${'a line that is longer than eighty characters is not folded, '.repeat(3)}`;

const configure = async ({ post, patch, put }: Plane): Promise<void> => {
  await post('/v1/config/providers', provider('main', { timeout_secs: 9 }));
  await post('/v1/config/models', model('m', 'main', { context_window: 1000 }));
  await post('/v1/config/model-pools', { id: 'pool', members: [{ model_id: 'm', weight: 2 }] });
  await post('/v1/config/skills', { id: 's', name: 'S', description: 'd', instructions_md: '# S' });
  await post('/v1/config/a2a-servers', {
    id: 'a2a',
    base_url: 'http://127.0.0.1:9',
    auth: { type: 'bearer', token: 'a2a-token' },
  });
  const endpoint = { base_url: 'https://r.example', auth: { type: 'bearer', token: 'far-token' } };
  const ping = { id: 'ping', model_id: 'pool', system_prompt: prompt };
  await post('/v1/config/agents', { id: 'far', endpoint });
  await post('/v1/config/agents', ping);
  await post('/v1/config/agents', { id: 'pong', model_id: 'm', delegates: ['ping', 'far'] });
  await put('/v1/config/agents/ping', { ...ping, delegates: ['pong'] });
  await patch('/v1/config/agents/default/overrides', {
    max_rounds: 2,
    sections: { custom: { a: 1 } },
    description: null,
  });
  await patch('/v1/config/tools/get_weather/overrides', { description: 'Sunny everywhere' });
};

const SECRETS = {
  PROVIDERS_MAIN_API_KEY: 'key-of-main',
  A2A_SERVERS_A2A_AUTH_TOKEN: 'a2a-token',
  AGENTS_FAR_ENDPOINT_AUTH_TOKEN: 'far-token',
};

t.test('imports an export into a fresh service with the same effective configuration', async (t) => {
  const source = await startPlane(t);
  await configure(source);
  const dir = join(t.testdirName, 'files');
  const exported = ['config', 'export', '--dir', dir, '--references', '--url', source.troupe.url];
  const command = runCommand(t, exported, TOKEN);
  t.equal(await command.ended(), 0);
  t.match(
    command.errors(),
    /^not included, because the service brings them itself .*: providers \d+, models \d+, skills \d+, agents \d+\n$/,
  );
  t.ok(readdirSync(dir).includes('model-pools.yaml'));
  const files = readdirSync(dir).map((name) => readFileSync(join(dir, name), 'utf8'));
  t.notMatch(files.join(), /key-of-main|a2a-token|far-token|"\*\*\*"/);

  await t.test('onto another service', async (t) => {
    const target = await startPlane(t);
    const first = await config(target.troupe.url, ['import', dir], SECRETS);
    t.match(first, { code: 0, errors: '' });
    t.match(first.output, /^create {4}providers\/main\ncreate {4}models\/m\n/);
    t.strictSame(await effective(target), await effective(source));
    t.match((await target.get('/v1/config/agents/default/meta')).body, {
      source: { kind: 'builtin' },
      user_overrides: { max_rounds: 2, description: null },
    });
    t.match((await target.post('/v1/providers/main/test')).body, { ok: true });
    t.equal((await target.audit('?action=apply_failed')).length, 0);
  });
});

t.test('plans no change when importing an export, even without secrets', async (t) => {
  const plane = await startPlane(t);
  await configure(plane);
  const left: string[] = [];
  const bundle = await exportBundle(remote(plane), { leftOut: (place) => left.push(place) });
  t.strictSame(left, [
    'providers/main api_key',
    'a2a-servers/a2a auth.token',
    'agents/far endpoint.auth.token',
  ]);
  for (const format of ['yaml', 'json'] as const) {
    const text = writeDocument(bundle, format);
    t.notMatch(text, /api_key|has_|"\*\*\*"/);
    const { entries, overrides, problems } = await planOf(t, plane, text, { prune: true });
    const others = [...entries, ...overrides].filter(({ action }) => action !== 'unchanged');
    t.strictSame([others, problems], [[], []]);
    t.equal(entries.length + overrides.length, 10);
  }
});

const FIRST = `
providers:
  - { id: main, adapter: groq, api_key: "\${KEY}" }
models:
  - { id: m1, provider_id: main, upstream_model: u }
  - { id: m2, provider_id: main, upstream_model: u }
agents:
  - { id: a, model_id: m1, delegates: [b] }
  - { id: b, model_id: m2 }
overrides:
  agents: { default: { max_rounds: 2, sections: { x: { a: 1 }, y: {} } } }
`;

const SECOND = `
providers:
  - { id: main, adapter: groq }
models:
  - { id: m2, provider_id: main, upstream_model: changed }
agents:
  - { id: b, model_id: m2 }
overrides:
  agents: { default: { sections: { x: { a: 1 } } } }
`;

t.test('applies the differences, and prunes on request', async (t) => {
  const plane = await startPlane(t);
  const { get, audit } = plane;
  await applyPlan(remote(plane), await planOf(t, plane, FIRST, { env: { KEY: 'k' } }));
  t.match((await get('/v1/config/agents/a')).body, { delegates: ['b'] });
  t.equal((await audit('?action=apply_failed')).length, 0);

  const changes = await planOf(t, plane, SECOND);
  t.strictSame(renderPlan(changes), [
    'unchanged providers/main',
    'update    models/m2',
    'unchanged agents/b',
    'override  agents/default (overrides)',
  ]);
  const told: string[] = [];
  await applyPlan(remote(plane), changes, (place, done, of) => told.push(`${done}/${of} ${place}`));
  t.strictSame(told, ['0/4 providers/main', '1/4 models/m2', '2/4 agents/b', '3/4 agents/default']);
  t.match((await get('/v1/config/models/m2')).body, { upstream_model: 'changed' });
  t.strictSame((await get('/v1/config/agents/default/meta')).body.user_overrides, {
    sections: { x: { a: 1 } },
  });
  t.equal((await get('/v1/config/agents/a')).status, 200);

  const pruned = await planOf(t, plane, SECOND, { prune: true });
  t.strictSame(
    renderPlan(pruned).filter((line) => !line.startsWith('unchanged')),
    ['delete    models/m1', 'delete    agents/a'],
  );
  await applyPlan(remote(plane), pruned);
  t.equal((await get('/v1/config/agents/a')).status, 404);
  t.equal((await get('/v1/config/models/m1')).status, 404);
  t.equal((await get('/v1/config/models/default')).status, 200, 'built-in entries are kept');
  t.match((await plane.post('/v1/providers/main/test')).body, { ok: true });
});

t.test('stops a prune at entries that others need, and names them', async (t) => {
  const plane = await startPlane(t);
  await applyPlan(remote(plane), await planOf(t, plane, FIRST, { env: { KEY: 'k' } }));
  const plan = await planOf(t, plane, 'models: []', { prune: true });
  await t.rejects(applyPlan(remote(plane), plan), {
    message: /^models\/m[12]: cannot delete: other records depend on this resource$/,
  });
  t.equal((await plane.get('/v1/config/models/m1')).status, 200);
});

t.test('reports problems with their positions, and changes nothing', async (t) => {
  const plane = await startPlane(t);
  const before = await effective(plane);
  const problemsOf = async (text: string): Promise<string> => {
    try {
      return (await planOf(t, plane, text)).problems.join('\n');
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const table: [text: string, problem: RegExp][] = [
    [
      'models: [{ id: m, provider_id: nope, upstream_model: u }]',
      /^models\/m: model 'm' references missing provider 'nope'$/,
    ],
    ['providers: [{ id: p, adapter: groq }]', /^providers\/p: .*requires api_key/],
    [
      `providers: [{ id: p, adapter: groq, api_key: "\${NOT_SET}" }]`,
      /config\.yaml: the variable NOT_SET is not set$/,
    ],
    ['provider: []', /config\.yaml: unknown field 'provider'$/],
    ['models: [{ provider_id: x }]', /config\.yaml: missing field 'models\[0\]\.id'$/],
    ['models: [{ id: x }, { id: x }]', /^models\/x: more than one entry has this id$/],
    ['overrides: { tools: { nope: { description: x } } }', /^tools\/nope: there is nothing to override$/],
    ['overrides: { agents: { default: { typo: x } } }', /^agents\/default: .*typo/],
    ['models: [', /config\.yaml: not legal JSON or YAML/],
  ];
  for (const [text, problem] of table) t.match(await problemsOf(text), problem, text);
  t.strictSame(await effective(plane), before);
});

t.test('validates files by a service, and sets the exit code', async (t) => {
  const { troupe } = await startPlane(t);
  const dir = join(t.testdirName, 'files');
  mkdirSync(dir);
  writeFileSync(join(dir, 'a.yaml'), 'models: [{ id: m, provider_id: p, upstream_model: u }]');
  const incomplete = await config(troupe.url, ['validate', dir]);
  t.match(incomplete, { code: 1, output: '', errors: /^models\/m: .* missing provider 'p'\n$/ });
  writeFileSync(join(dir, 'b.json'), '{"providers": [{"id": "p", "adapter": "groq", "api_key": "k"}]}');
  t.match(await config(troupe.url, ['validate', dir]), { code: 0, output: '2 entries are legal\n' });
  t.match(await config(troupe.url, ['import', dir, '--dry-run']), {
    code: 0,
    output: 'create    providers/p\ncreate    models/m\ndry run: no changes were made\n',
  });
  t.match(await config(troupe.url, ['export', '--token', 'wrong']), {
    code: 1,
    errors: 'invalid admin bearer token\n',
  });
});

t.test('exits with 2 on usage errors', async (t) => {
  const nowhere = 'http://127.0.0.1:9';
  const usage: string[][] = [
    ['import'],
    ['import', '/no/such/file'],
    ['export', '--dir', 'a', '--out', 'b'],
    ['frobnicate'],
  ];
  for (const args of usage) t.equal((await config(nowhere, args)).code, 2, args.join(' '));
  t.match(await config(nowhere, ['export'], { SERVICE_ADMIN_API_BEARER_TOKEN: ' ' }), {
    code: 2,
    errors: /SERVICE_ADMIN_API_BEARER_TOKEN/,
  });
  t.match(await config(nowhere, ['export']), { code: 1, errors: /no service answers at/ });
  t.match(await config(nowhere, ['import', '--help']), { code: 0, output: /--prune/ });
});
