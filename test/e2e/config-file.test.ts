import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { loadConfigFile } from '../../src/commands/config-file.ts';
import { appInput } from '../../src/embedding/config.ts';
import { createTroupe, ToolError } from '../../src/index.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import { ask } from '../examples/ask.ts';
import { INDEX } from './built.ts';
import { runCommand } from './service.ts';

/** `troupe serve --config`: a module with the options of an embedding program. */

const TOKEN = { SERVICE_ADMIN_API_BEARER_TOKEN: 'x' };

const CONFIG = `
import { defineProvider } from ${JSON.stringify(pathToFileURL(INDEX).href)};
const parrot = defineProvider({
  id: 'parrot',
  stream: async (_, sink) => {
    sink.text('parrot says hi');
    return { stop: 'EndTurn' };
  },
});
export default {
  settings: { http_addr: 'not-this:1', default_agent_id: 'polly' },
  providers: [parrot],
  models: [{ id: 'parrot', provider_id: 'parrot', upstream_model: 'parrot' }],
  agents: [{ id: 'bird', model_id: 'parrot' }],
};
`;

const Unit = z.enum(['mm', 'cm']).meta({ id: 'Unit' });

const fileOf = (t: Test, name: string, content: string): string => join(t.testdir({ [name]: content }), name);

t.test('takes providers, agents and settings from a config file, and prefers flags', async (t) => {
  const file = fileOf(t, 'troupe.config.mjs', CONFIG);
  const more = ['--http-addr', '127.0.0.1:0', '--storage-dir', `${file}.data`];
  const service = runCommand(t, ['serve', '--config', file, ...more], TOKEN);
  const [, url = ''] = await service.says(/listens on (\S+)/);
  t.equal((await ask(url, 'bird', 'Hello')).text, 'parrot says hi');
  t.equal((await ask(url, 'polly', 'Hello')).text, 'Scripted response to: Hello');
  service.child.kill('SIGTERM');
  t.equal(await service.ended(), 0);
});

t.test('accepts a tool schema of another copy of zod in the program', async (t) => {
  const built: typeof import('../../src/index.ts') = await import(pathToFileURL(INDEX).href);
  const double = built.defineTool({
    id: 'double',
    description: 'Doubles a number.',
    input: z.strictObject({
      n: z.number().meta({ description: 'what is doubled' }),
      unit: Unit.optional(),
    }),
    execute: ({ n, unit }) => ({ data: `${n * 2} ${unit ?? ''}` }),
  });
  t.strictSame(double.descriptor.parameters, {
    type: 'object',
    properties: {
      n: { type: 'number', description: 'what is doubled' },
      unit: { $ref: '#/$defs/Unit' },
    },
    required: ['n'],
    additionalProperties: false,
    $defs: { Unit: { type: 'string', enum: ['mm', 'cm'] } },
  });
  t.equal(double.refuses?.({ n: 1, unit: 'cm' }), undefined);
  const refused = double.refuses?.({ n: 'one', unit: 'inch' });
  t.match(refused?.message, /^'n': Invalid input: .*; 'unit': Invalid option: /);
  t.ok(refused instanceof ToolError);
});

t.test('accepts TypeScript in a config file and its imports', async (t) => {
  const typed = CONFIG.replace('async (_, sink)', 'async (_: unknown, sink)').replace(
    "id: 'bird'",
    'id: Name.bird',
  );
  for (const name of ['troupe.config.mts', 'troupe.config.ts']) {
    const folder = t.testdir({
      [name]: `import { Name } from './name.ts';${typed}`,
      'name.ts': "export enum Name { bird = 'bird' }",
    });
    const found: string[] = [];
    const config = await loadConfigFile(join(folder, name), (path) => found.push(path));
    t.match(config, { agents: [{ id: 'bird' }] }, name);
    t.strictSame(new Set(found), new Set([join(folder, name), join(folder, 'name.ts')]));
  }
});

t.test('accepts a CommonJS module with the configuration', async (t) => {
  const file = fileOf(t, 'troupe.config.cjs', "module.exports = { agents: [{ id: 'bird' }] };");
  t.strictSame(await loadConfigFile(file), { agents: [{ id: 'bird' }] });
});

const LOADING: [name: string, content: string, message: RegExp][] = [
  ['c.mjs', 'export const config = {};', /^--config: the default export of .*c\.mjs must be an object/],
  ['c.mjs', 'export default [];', /must be an object of type TroupeConfig$/],
  ['c.mjs', "import 'not-there';", /^--config: .*c\.mjs: Cannot find module 'not-there'$/],
  ['c.ts', 'export default {\n  agents: ;\n};', /^--config: .*c\.ts:2:11: Unexpected token$/],
  ['c.ts', "type A = 1;\n\nthrow new TypeError('no');", /^--config: .*c\.ts:3:7: TypeError: no$/],
  ['c.odd', 'export default {};', /^--config: .*c\.odd must end in one of \.js, \.mjs, \.cjs, \.ts, /],
];
for (const [name, content, message] of LOADING) {
  t.test(`does not load ${name} with ${content}`, async (t) => {
    await t.rejects(loadConfigFile(fileOf(t, name, content)), { name: 'Invalid', message });
  });
}

t.test('reports a missing file in one line', async (t) => {
  const service = runCommand(t, ['serve', '--config', '/nowhere/c.mjs'], TOKEN);
  t.equal(await service.ended(), 1);
  t.equal(service.errors(), 'troupe: --config: file /nowhere/c.mjs does not exist\n');
});

t.test('validates the options of a program independent of their types', async (t) => {
  const unknown: object = { tolls: [] };
  t.throws(() => appInput(unknown, settingsFrom({})), {
    message: /^tolls: not an option; allowed: settings, /,
  });
  const broken: object = { agents: [{ id: 'a', foo: 1 }], models: [{ id: 'm' }] };
  t.throws(() => appInput(broken, settingsFrom({})), {
    name: 'SettingsError',
    message: /^models\[0\]\.provider_id: .*\nmodels\[0\]\.upstream_model: .*\nagents\[0\]: .*'foo'/,
  });
});

t.test('does not start with missing references', async (t) => {
  const settings = {
    http_addr: '127.0.0.1:0',
    storage_dir: t.testdir(),
    AdminApiConfig: { bearer_token: 'x' },
  };
  const agents = [{ id: 'a', model_id: 'x', plugin_ids: ['y'] }];
  await t.rejects(createTroupe({ settings, agents }), {
    name: 'Invalid',
    message: "agent 'a' references missing model 'x'\nagent 'a' uses missing plugin 'y'",
  });
  await t.rejects(createTroupe({ settings: { http_addr: 'nowhere' } }), { name: 'SettingsError' });
});
