import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { createNamespaces, refuseReadOnly } from '../../../src/configuration/namespaces/namespaces.ts';
import { CONFIG_NAMESPACES } from '../../../src/schema/config-record.ts';
import type { JsonObject } from '../../../src/schema/endpoint.ts';
import { Invalid, NotFound } from '../../../src/schema/outcome.ts';

const namespaces = createNamespaces();

t.test('defines eight namespaces in the order of the contract, the last one unlisted', async (t) => {
  t.strictSame(
    namespaces.all.map(({ name }) => name),
    CONFIG_NAMESPACES,
  );
  t.strictSame(
    namespaces.all.filter(({ listed }) => !listed).map(({ name }) => name),
    ['a2a-servers'],
  );
});

t.test('rejects unknown names', async (t) => {
  for (const name of ['nope', 'constructor', 'Agents', '']) {
    t.throws(() => namespaces.of(name), new NotFound(`unknown namespace: ${name}`));
  }
});

t.test('allows writes to all namespaces except tools', async (t) => {
  for (const namespace of namespaces.all) {
    if (namespace.name === 'tools') {
      t.throws(
        () => refuseReadOnly(namespace),
        new Invalid(
          'invalid payload: tools namespace is read-only; use PATCH /v1/config/tools/:id/overrides',
        ),
      );
    } else t.doesNotThrow(() => refuseReadOnly(namespace));
  }
});

/** The required fields, whether unknown fields are accepted, and a valid entry. */
const SCHEMAS: Record<string, { required: string[]; open?: true; example: JsonObject }> = {
  agents: {
    required: ['id'],
    example: { id: 'a', endpoint: { base_url: 'http://h' }, allowed_tools: null, sections: { a: [1] } },
  },
  models: {
    required: ['id', 'provider_id', 'upstream_model'],
    example: { id: 'm', provider_id: 'p', upstream_model: 'u', modalities: { input: ['text'] } },
  },
  'model-pools': {
    required: ['id', 'members'],
    example: { id: 'p', members: [{ model_id: 'm' }], routing: {}, switch: { on_quota: false } },
  },
  providers: {
    required: ['id', 'adapter'],
    example: { id: 'p', adapter: 'openai', api_key: null, adapter_options: { x: { y: 1 } } },
  },
  'mcp-servers': {
    required: ['id', 'transport'],
    open: true,
    example: { id: 's', transport: 'stdio', command: 'c', env: { A: 'b' }, future: 1 },
  },
  skills: {
    required: ['id', 'name', 'description', 'instructions_md'],
    example: { id: 's', name: 'n', description: 'd', instructions_md: 'i', arguments: [{ name: 'x' }] },
  },
  tools: {
    required: ['id', 'name', 'description'],
    example: { id: 't', name: 'n', description: 'd', category: null, parameters_schema: { type: 'object' } },
  },
  'a2a-servers': {
    required: ['id', 'base_url'],
    example: { id: 's', base_url: 'http://h', auth: { type: 'bearer', token: 't' } },
  },
  budgets: {
    required: ['id', 'limits'],
    example: { id: 'b', window: { every: 'day' }, limits: { usd: 1 }, on_exceeded: 'stop' },
  },
};

for (const { name, schema: schemaOf } of namespaces.all) {
  t.test(`describes an entry in the JSON Schema of ${name}`, async (t) => {
    const schema = schemaOf();
    const { required, open, example } = SCHEMAS[name] ?? { required: [], example: {} };
    t.match(schema, {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: String,
      type: 'object',
      properties: { id: { type: 'string' } },
      required,
    });
    if (open) t.not(schema.additionalProperties, false);
    else t.equal(schema.additionalProperties, false);
    const accepts = new Ajv2020({ strict: false }).compile(schema);
    t.ok(accepts(example), JSON.stringify(accepts.errors));
    t.equal(accepts({ ...example, unknown_field: 1 }), open ?? false);
  });
}

t.test('supports overrides for agents, skills and tools only', async (t) => {
  const overrides = { description: 'changed' };
  for (const { name, effective } of namespaces.all) {
    const base = SCHEMAS[name]?.example ?? {};
    t.strictSame(effective(base, {}), base, name);
    if (['agents', 'skills', 'tools'].includes(name)) t.match(effective(base, overrides), overrides);
    else
      t.throws(
        () => effective(base, overrides),
        new Invalid(`${name}/${String(base.id)} cannot have overrides`),
      );
  }
});
