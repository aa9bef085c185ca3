import t from 'tap';
import { loadSettings, type Settings } from '../../src/settings/index.ts';
import { problemsOf } from './problems.ts';

const loadFile = (content: string): Promise<Settings> =>
  loadSettings({ flags: { 'settings-file': 't.yaml' }, env: {}, readFile: () => content });

const refused = (content: string): Promise<readonly string[]> => problemsOf(() => loadFile(content));

t.test('the file is YAML or JSON, regardless of its name', async (t) => {
  t.equal((await loadFile('mailbox:\n  lease_ms: 20000 # short\n')).mailbox.lease_ms, 20_000);
  t.equal((await loadFile('{\n\t"mailbox": {\n\t\t"lease_ms": 20000\n\t}\n}')).mailbox.lease_ms, 20_000);
});

t.test('a flag or a variable names the file, and the settings keep its name', async (t) => {
  const read: string[] = [];
  const readFile = (path: string) => {
    read.push(path);
    return '';
  };
  await loadSettings({ flags: {}, env: {}, readFile });
  t.strictSame(read, []);
  const { settings_file } = await loadSettings({ flags: {}, env: { SERVICE_SETTINGS_FILE: 'a' }, readFile });
  t.equal(settings_file, 'a');
  await loadSettings({ flags: { 'settings-file': 'b' }, env: { SERVICE_SETTINGS_FILE: 'a' }, readFile });
  t.strictSame(read, ['a', 'b']);
  t.match(await refused('settings_file: other.yaml'), [/^settings_file in t\.yaml: not a setting/]);
});

t.test('an empty file and an empty section set nothing', async (t) => {
  for (const content of ['', '# nothing yet', 'mailbox:', 'http_addr: null']) {
    t.equal((await loadFile(content)).mailbox.lease_ms, 30_000);
    t.equal((await loadFile(content)).http_addr, '127.0.0.1:38080');
  }
});

t.test('an unknown key prevents the start, and the message lists the keys allowed there', async (t) => {
  t.match(await refused('mailbox: {colour: 5}'), [
    /^mailbox\.colour in t\.yaml: not a setting; allowed here: lifecycle, lease_ms, /,
  ]);
  t.match(await refused('entries: {}'), [
    /^entries in t\.yaml: not a setting; allowed here: http_addr, .*agents$/,
  ]);
  t.match(await refused('mailbox.lease_ms: 5'), [/^mailbox\.lease_ms in t\.yaml: not a setting/]);
  t.match(await refused('__proto__: {a: 1}'), [/^__proto__ in t\.yaml: not a setting/]);
  t.match(await refused('toString: 1'), [/^toString in t\.yaml: not a setting/]);
});

t.test('the message about a misspelled key suggests the right one', async (t) => {
  t.strictSame(await refused('mailbox: {leese_ms: 5}\nhtml_addr: x'), [
    'mailbox.leese_ms in t.yaml: not a setting; did you mean lease_ms?',
    'html_addr in t.yaml: not a setting; did you mean http_addr?',
  ]);
});

t.test('a section that is not an object prevents the start', async (t) => {
  for (const value of ['5', 'text', '[1]']) {
    t.match(await refused(`mailbox: ${value}`), [
      /^mailbox in t\.yaml: not an object; allowed here: one with lifecycle/,
    ]);
  }
  t.match(await refused('- 1'), ['t.yaml: not an object; allowed: one with the names of settings']);
});

t.test('an unreadable or invalid file prevents the start, together with the other problems', async (t) => {
  const unreadable = () => {
    throw new Error('ENOENT: no such file');
  };
  const sources = { flags: { durability: 'never', nope: '1' }, env: { SERVICE_SETTINGS_FILE: 'gone.yaml' } };
  t.match(await problemsOf(() => loadSettings({ ...sources, readFile: unreadable })), [
    /^--nope: not a setting/,
    /^SERVICE_SETTINGS_FILE: 'gone\.yaml' cannot be read \(ENOENT/,
    /^--durability: 'never'/,
  ]);
  t.match(await refused('http_addr: a:1\nhttp_addr: b:2'), [/^t\.yaml: .* DUPLICATE_KEY in line 2$/]);
  t.match(
    await refused('http_addr: a:1\n---\nport: 2\n'),
    [/ MULTIPLE_DOCS in line 2$/],
    'the error names the line of the second document',
  );
  t.match(await refused('a: [1'), [/^t\.yaml: not legal JSON or YAML: /]);
});

t.test('the lists of entries become entries, with the defaults of their specs', async (t) => {
  const { entries } = await loadFile(`
providers: [{id: main, adapter: openai, api_key: hush}]
models: [{id: default, provider_id: main, upstream_model: m}]
agents: [{id: default, model_id: default}, {id: sales, max_rounds: 2}]
`);
  t.strictSame(entries.providers, [{ id: 'main', adapter: 'openai', api_key: 'hush' }]);
  t.match(entries.models, [{ upstream_model: 'm' }]);
  t.match(entries.agents, [
    { id: 'default', model_id: 'default', max_rounds: 16, system_prompt: '' },
    { id: 'sales', max_rounds: 2 },
  ]);
  t.strictSame((await loadFile('')).entries, { providers: [], models: [], model_pools: [], agents: [] });
});

t.test('an invalid entry prevents the start, and the message names its location', async (t) => {
  t.match(await refused('agents: [{id: a}, {id: b, max_rounds: -1}]'), [
    /^agents\[1\]\.max_rounds in t\.yaml: /,
  ]);
  t.match(await refused('models: [{id: a, provider_id: p, upstream_model: m, color: red}]'), [
    /^models\[0\] in t\.yaml: .*color/,
  ]);
  t.match(await refused('providers: {id: a}'), [/^providers in t\.yaml: .*array/]);
  t.match(await refused('agents: [{id: a}, {id: a}]'), [
    /^agents in t\.yaml: more than one entry has the id a/,
  ]);
  t.match(await refused('entries: {agents: []}'), [/^entries in t\.yaml: not a setting/]);
});

t.test('no message contains a secret of the file', async (t) => {
  const broken = [
    'AdminApiConfig: {bearer_token: {a: hush-1}}',
    'AdminApiConfig: {bearer_token: [hush-1]}',
    'AdminApiConfig:\n  bearer_token: !hush-1',
    'AdminApiConfig:\n  bearer_token: *hush-1',
    'AdminApiConfig:\n  bearer_token: "hush-1',
    'AdminApiConfig:\n  bearer_token: hush-1: x',
    '{"AdminApiConfig": {"bearer_token": "hush-1" "x"}}',
    'AdminApiConfig: hush-1',
    'providers: [{id: a, adapter: openai, api_key: {a: hush-1}}]',
    'providers: [{id: a, adapter: openai, api_key: [hush-1], base_url: 1}]',
    'providers: hush-1',
    'providers: [hush-1]',
  ];
  for (const content of broken) {
    const problems = await refused(content);
    t.ok(problems.length > 0, content);
    t.notMatch(problems.join('\n'), /hush/, content);
  }
});
