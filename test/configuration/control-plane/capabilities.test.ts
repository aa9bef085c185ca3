import t from 'tap';
import { builtInPlugins } from '../../../src/configuration/built-in-plugins.ts';
import { createSkillSource } from '../../../src/plugins/skills/source.ts';
import { isObject } from '../../../src/schema/endpoint.ts';
import { BASE, CALLER, startPlane, toolOf } from './plane.ts';

/** Capabilities: config.md 10 and check 58. */

const rowsOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const builtIn = () =>
  builtInPlugins({
    log: { info() {} },
    skills: createSkillSource(() => ({ skills: [], broken: [] })),
  });

t.test('lists every part sorted by id, and calls the assistant each time', async (t) => {
  let asked = 0;
  const { service, create, agent } = await startPlane(t, {
    tools: [toolOf('write'), toolOf('look')],
    more: {
      assistant: () => {
        asked += 1;
        return { asked };
      },
    },
  });
  await create('providers', {
    id: 'a-real',
    adapter: 'groq',
    api_key: 'sk-secret',
    adapter_options: { headers: { 'X-A': 'sk-secret' } },
  });
  await create('models', { id: 'a-model', provider_id: 'a-real', upstream_model: 'u', context_window: 5 });
  for (const id of ['b', 'a']) await create('agents', agent(id));
  const document = service.capabilities();
  t.strictSame(Object.keys(document).sort(), [
    'adapter_defaults',
    'admin_assistant',
    'agents',
    'backends',
    'models',
    'namespaces',
    'plugins',
    'providers',
    'skills',
    'supported_adapters',
    'tools',
  ]);
  t.strictSame(document.agents, ['a', 'b']);
  t.strictSame(document.tools, [
    { id: 'look', name: 'look', description: 'Does look.', source: { kind: 'builtin' }, request_bytes: 89 },
    {
      id: 'take_note',
      name: 'take_note',
      description: 'Does take_note.',
      source: { kind: 'plugin' },
      request_bytes: 99,
    },
    {
      id: 'write',
      name: 'write',
      description: 'Does write.',
      source: { kind: 'builtin' },
      request_bytes: 91,
    },
  ]);
  t.strictSame(document.providers, [{ id: 'a-real' }, { id: 'p' }]);
  t.strictSame(document.models, [
    { id: 'a-model', provider_id: 'a-real', upstream_model: 'u', context_window: 5, known: {} },
    { id: 'm', provider_id: 'p', upstream_model: 'up', known: {} },
  ]);
  t.match(document.plugins, [
    {
      id: 'notes',
      config_schemas: [
        {
          key: 'notes',
          schema: { type: 'object', properties: { size: { type: 'number' } } },
          display_name: 'Notes',
          description: null,
          category: null,
          editor: null,
          default_value: null,
          ui_schema: {},
        },
      ],
    },
    { id: 'permission' },
  ]);
  t.match(document.skills, [{ id: 'greeting', context: 'inline', user_invocable: true }]);
  t.match(document.backends, [
    { kind: 'local', default_config: { model_id: '', system_prompt: '', max_rounds: 10 } },
    { kind: 'a2a', schema: { required: ['base_url'] } },
  ]);
  t.match(document.supported_adapters, ['anthropic', 'openai', 'openai_resp']);
  t.match(document.adapter_defaults, {
    ollama: { base_url: 'http://localhost:11434/v1/', key_variable: 'OLLAMA_API_KEY' },
    openai: { name: 'OpenAI', key_url: 'https://platform.openai.com/api-keys' },
    vertex: { base_url: null, key_url: null },
  });
  t.strictSame(
    rowsOf(document.namespaces).map(({ namespace }) => namespace),
    ['agents', 'models', 'model-pools', 'providers', 'mcp-servers', 'skills', 'tools', 'budgets'],
  );
  t.notMatch(JSON.stringify(document), 'sk-secret');
  t.strictSame(document.admin_assistant, { asked: 1 });
  t.strictSame(service.capabilities().admin_assistant, { asked: 2 });
});

t.test('describes the sections of built-in plugins that consoles know', async (t) => {
  const { service } = await startPlane(t, { plugins: builtIn });
  const plugins = rowsOf(service.capabilities().plugins);
  const sections = new Map(plugins.map(({ id, config_schemas }) => [id, rowsOf(config_schemas)[0]]));
  const EXPECTED: [id: string, section: object][] = [
    [
      'permission',
      {
        key: 'permission',
        display_name: 'Permissions',
        category: 'safety',
        editor: 'permission',
        default_value: { default_behavior: 'ask', rules: [] },
      },
    ],
    [
      'reminder',
      {
        key: 'reminder',
        display_name: 'Reminders',
        category: 'behavior',
        editor: 'reminder',
        default_value: { rules: [] },
      },
    ],
    [
      'generative-ui',
      {
        key: 'generative-ui',
        display_name: 'Generative UI',
        category: 'presentation',
        editor: 'generative-ui',
        default_value: {},
      },
    ],
    [
      'ext-deferred-tools',
      {
        key: 'deferred_tools',
        display_name: 'Deferred Tools',
        category: 'tools',
        editor: 'deferred-tools',
        default_value: {
          enabled: null,
          rules: [],
          default_mode: 'deferred',
          beta_overhead: 1136,
          disc_beta: { omega: 0.95, n0: 5, defer_after: 5, thresh_mult: 0.5, gamma: 2000 },
        },
      },
    ],
    [
      'skills-discovery',
      { key: 'skills', display_name: 'Skills', category: 'context', editor: null, default_value: {} },
    ],
  ];
  for (const [id, section] of EXPECTED) {
    const { schema, ui_schema, description, ...told } = sections.get(id) ?? {};
    t.strictSame(told, section, id);
    t.type(schema, 'object');
    t.type(ui_schema, 'object');
    t.ok(description === null || typeof description === 'string');
  }
  t.strictSame(
    plugins.find(({ id }) => id === 'observability'),
    { id: 'observability', config_schemas: [] },
  );
});

t.test('builds the document once per publication', async (t) => {
  const { service, create, agent } = await startPlane(t);
  const before = service.capabilities();
  t.equal(service.capabilities().tools, before.tools);
  await create('agents', agent('a'));
  t.not(service.capabilities().agents, before.agents);
});

t.test('previews the permissions of the registered tools', async (t) => {
  const { service, create, agent } = await startPlane(t);
  await create(
    'agents',
    agent('guarded', {
      plugin_ids: ['permission'],
      allowed_tools: ['look', 'gone', 'take_note'],
      sections: { permission: { rules: [{ tool: 'look', behavior: 'deny' }] } },
    }),
  );
  t.match(service.permissionPreview('guarded'), {
    permission_plugin_enabled: true,
    default_behavior: 'ask',
    candidate_tools: ['look', 'take_note'],
    unconditionally_denied: ['look'],
    effective_tools: ['take_note'],
  });
  t.throws(() => service.permissionPreview('nope'), { name: 'NotFound', message: 'agent not found: nope' });
});

t.test('returns no preview without the permission plugin', async (t) => {
  const { service, create, agent } = await startPlane(t, { plugins: () => [] });
  await create('agents', agent('a'));
  t.throws(() => service.permissionPreview('a'), { name: 'Unavailable' });
});

t.test('lists entries in pages, with their metadata separately', async (t) => {
  const { service, put, remove } = await startPlane(t, { entries: BASE });
  for (let n = 0; n < 120; n += 1) {
    await put('providers', { id: `q${String(n).padStart(3, '0')}`, adapter: 'scripted' });
  }
  t.match(service.list('providers', {}), { offset: 0, limit: 121, namespace: 'providers' });
  t.equal(service.list('providers', {}).items.length, 121);
  t.match(service.list('providers', { limit: 1, offset: 1 }), {
    items: [{ id: 'q000' }],
    offset: 1,
    limit: 1,
  });
  t.match(service.list('providers', { limit: 999 }), { limit: 200 });
  t.equal(service.list('providers', { limit: 0 }).items.length, 1);
  t.equal(service.list('models', {}).limit, 100);
  t.equal(service.metas('providers', {}).length, 121);
  t.match(service.metas('providers', { limit: 1 }), [{ id: 'p', meta: { source: { kind: 'builtin' } } }]);
  await remove('providers', 'q000');
  t.throws(() => service.meta('providers', 'q000'), { message: 'providers/q000' });
  await t.rejects(service.remove('providers', 'q000', false, CALLER), {
    message: 'not found: providers/q000',
  });
});
