import t from 'tap';
import { settingFlags, settingsFrom, settingsHelp, settingsMarkdown } from '../../src/settings/index.ts';
import { contractRows } from './contract.ts';

const flagOf = (env: string): string =>
  env
    .replace(/^SERVICE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');

const manualRows = (): string[][] =>
  settingsMarkdown()
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(/ (?<!\\)\| /))
    .map((cells) => cells.map((cell) => cell.replaceAll('`', '').replaceAll('\\|', '|')));

t.test('the manual lists the names, types and defaults of the contract, in its order', async (t) => {
  const listed = manualRows().map(([env, flag, key, type, fallback, meaning]) => ({
    env,
    flag,
    key,
    type,
    fallback,
    alsoRead: /; also read (\S+)$/.exec(meaning ?? '')?.[1],
  }));
  const expected = contractRows.map(([env, key, type, fallback, alsoRead]) => ({
    env,
    flag: env.startsWith('SERVICE_') ? `--${flagOf(env)}` : '–',
    key,
    type,
    fallback,
    alsoRead,
  }));
  t.strictSame(listed, expected);
});

t.test('the manual groups its tables under headings', async (t) => {
  const headings = settingsMarkdown().match(/^### .*$/gm);
  t.strictSame(headings, [
    '### Server',
    '### Cluster',
    '### Admin API',
    '### Identity',
    '### Configuration',
    '### Seed',
    '### Mailbox',
    '### Runs',
    '### Files',
    '### A2A',
    '### MCP',
    '### OpenAI',
    '### Evaluations',
    '### Traces',
    '### Telemetry',
  ]);
});

t.test('the help names every flag, variable, key and default of the contract', async (t) => {
  const blocks = new Map(
    settingsHelp()
      .split(/\n(?= {2}\S)/)
      .map((block) => [/^ {2}(?:--)?(\S+)/.exec(block)?.[1], block]),
  );
  for (const [env, key, , fallback, alsoRead] of contractRows) {
    const block = blocks.get(env.startsWith('SERVICE_') ? flagOf(env) : env) ?? '';
    t.ok(block.includes(env), `${env} is named`);
    t.ok(block.includes(`(default: ${fallback})`), `${env} has its default`);
    if (key !== '–') t.ok(block.includes(key), `${key} is named`);
    else if (env.startsWith('SERVICE_')) t.notMatch(block, ` ${env}, ${env.slice(8).toLowerCase()}`);
    if (alsoRead) t.ok(block.includes(alsoRead), `${alsoRead} is named`);
  }
});

t.test('the command line has one flag for every variable of the service, with its default', async (t) => {
  t.strictSame(
    settingFlags.map((flag) => [flag.name, flag.default ?? 'unset']),
    contractRows
      .filter(([env]) => env.startsWith('SERVICE_'))
      .map(([env, , , fallback]) => [flagOf(env), fallback]),
  );
});

t.test('the placeholder of a flag shows the unit or the choices', async (t) => {
  const placeholders = new Map(settingFlags.map((flag) => [flag.name, flag.placeholder]));
  t.equal(placeholders.get('mailbox-lease-ms'), 'ms');
  t.equal(placeholders.get('mailbox-gc-interval-secs'), 'seconds');
  t.equal(placeholders.get('body-limit-bytes'), 'bytes');
  t.equal(placeholders.get('event-retention-days'), 'days');
  t.equal(placeholders.get('sse-buffer-size'), 'frames');
  t.equal(placeholders.get('durability'), 'process|power');
  t.equal(placeholders.get('http-addr'), 'host:port');
});

t.test('the help of a secret says that a flag is visible to every user of the host', async (t) => {
  const warned = settingFlags.filter(({ help }) => help.includes('visible to every user of the host'));
  t.strictSame(
    warned.map(({ name }) => name),
    [
      'secrets-key',
      'database-url',
      'cluster-secret',
      'admin-api-bearer-token',
      'identity-issuers',
      'a2a-extended-card-bearer-token',
      'a2a-remote-bearer-token',
    ],
  );
  t.match(settingsHelp(), /visible to every user of the host/);
});

/** Defaults that are derived from other settings. */
const FOLLOWS = [
  'a model of OpenAI, or the first that OPENAI_BASE_URL lists',
  'openai_resp at OpenAI, else openai',
  'true unless http_addr is a loopback address',
  'the name of the host',
  'http_addr if it is a loopback address, otherwise required',
  'a new folder for temporary files',
];

t.test('without values every setting has its default, under its key', async (t) => {
  const settings = settingsFrom({});
  for (const [, key, , fallback] of contractRows) {
    if (key === '–') continue;
    const value = key.split('.').reduce<unknown>((place, part) => Object(place)[part], settings);
    const shown = value === undefined ? 'unset' : [value].flat().join(', ');
    t.equal(shown, FOLLOWS.includes(fallback) ? 'unset' : fallback, key);
  }
});

t.test('the type of a setting is derived from its row', async (t) => {
  const settings = settingsFrom({ mailbox: { lease_ms: 20_000 } });
  const lease: number = settings.mailbox.lease_ms;
  const mode: 'disabled' | 'compacted' | 'full_fidelity' = settings.event_capture_mode;
  const token: string | undefined = settings.AdminApiConfig.bearer_token;
  // @ts-expect-error a setting without a default may be unset
  const certain: string = settings.AdminApiConfig.bearer_token;
  // @ts-expect-error there is no such setting
  t.equal(settings.mailbox.leese_ms, undefined);
  t.strictSame([lease, mode, token, certain], [20_000, 'compacted', undefined, undefined]);
});
