import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import t, { type Test } from 'tap';
import { buildManual } from '../../.build/manual.ts';
import { builtInPlugins } from '../../src/configuration/built-in-plugins.ts';
import { readReports } from '../../src/evals/report.ts';
import { createSkillSource } from '../../src/plugins/skills/source.ts';
import { ProgramList } from '../../src/schema/program.ts';
import { scriptedModel, startTestTroupe } from '../../src/testing/index.ts';
import { SHORT_LIVED, unhooked } from '../child.ts';
import { INDEX, MAIN } from '../e2e/built.ts';
import { outputOf, runHere, serveHere } from '../e2e/in-process.ts';
import { ask } from '../examples/ask.ts';
import { ROOT } from '../run/places.ts';
import '../diagrams/kept-layouts.ts';
import { blocks, documents } from './pages.ts';

/** Executes the examples of the README and the manual unchanged, except for ports and installations. */

const EXAMPLES = join(ROOT, 'test', 'examples');
const all = documents();
const words = all.map(({ source }) => source).join('\n');
const shown = blocks();

/** The text of the first block in this language that contains these words. @throws Error if there is none */
function blockWith(language: string, part: string): string {
  const found = shown.find((block) => block.language === language && block.text.includes(part));
  if (!found) throw new Error(`no ${language} block contains ${part}`);
  return found.text;
}

const scripts: Record<string, string> = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts;
/** Standard output of a block; fails if the shell fails. */
const shell = async (block: string, cwd = ROOT): Promise<string> =>
  (await promisify(execFile)(...unhooked('bash', ['-ec', block]), { cwd })).stdout;

const TROUPE = `node ${SHORT_LIVED.join(' ')} ${MAIN}`;

/** The command as run in a checkout, with the address of the test. */
const here = (block: string, url: string): string =>
  block.replaceAll('npx troupe', TROUPE).replaceAll('http://127.0.0.1:38080', url);

/** The development service for the commands of the documentation. */
const dev = await serveHere(t, ['dev', '--storage-dir', join(t.testdir(), 'data')]);

const CLIENT = join(dirname(INDEX), 'client', 'index.js');
const AI_SDK = join(dirname(INDEX), 'ai-sdk', 'index.js');
const TESTING = join(dirname(INDEX), 'testing', 'index.js');

/** A program of the documentation as a module that imports the build and has a separate data directory. */
const programOf = async (t: Test, name: string, example: string): Promise<string> => {
  const dir = join(ROOT, '.tap', name);
  mkdirSync(dir, { recursive: true });
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const { code } = await transform(example, { loader: 'ts', target: 'node20.19' });
  const file = join(dir, 'example.mjs');
  const given = here(code, dev.url)
    .replace(/["']troupe["']/, `'${pathToFileURL(INDEX).href}'`)
    .replace(/["']troupe\/client["']/, `'${pathToFileURL(CLIENT).href}'`)
    .replace(/["']troupe\/ai-sdk["']/, `'${pathToFileURL(AI_SDK).href}'`)
    .replace(/["']troupe\/testing["']/, `'${pathToFileURL(TESTING).href}'`)
    .replace(/["']\.\/data["']/, `'${join(dir, 'data')}'`);
  writeFileSync(file, given);
  return pathToFileURL(file).href;
};

t.test('starts and tests the service with package scripts', async (t) => {
  t.match(blockWith('sh', 'npm start'), 'npm install && npm start');
  t.match(blockWith('sh', 'npm test'), 'npm install && npm test');
  t.match(scripts.start, /^node .*dist\/src\/main\.js dev$/);
  t.match(scripts.test, /npm run test:run$/);
});

t.test('names only existing scripts', async (t) => {
  const named = Array.from(words.matchAll(/\bnpm run ([\w:-]+)/g), ([, name = '']) => name);
  t.ok(named.includes('test:run'));
  t.strictSame(
    named.filter((name) => !(name in scripts)),
    [],
  );
});

t.test('shows only pictures that exist and are small', async (t) => {
  const pictures = all.flatMap(({ file, source }) =>
    Array.from(source.matchAll(/!\[(.*?)\]\((.*?)\)/g), ([, text, path = '']) => ({
      text,
      path: join(ROOT, dirname(file), path),
    })),
  );
  t.ok(pictures.length >= 5);
  for (const { text, path } of pictures) {
    t.ok(text, `${path} has an alternative text`);
    const picture = readFileSync(path);
    const isAnimated = path.endsWith('.png');
    if (isAnimated) t.ok(picture.includes('acTL'), `${path} is an animated PNG`);
    else t.equal(picture.readUInt16BE(), 0xffd8, `${path} is a JPEG`);
    const most = isAnimated ? 1024 * 1024 : 120_000;
    t.ok(picture.byteLength <= most, `${path} has ${picture.byteLength} bytes`);
  }
});

t.test('runs no script when the package is installed', async (t) => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  for (const name of [
    'preinstall',
    'install',
    'postinstall',
    'prepublish',
    'preprepare',
    'prepare',
    'postprepare',
  ]) {
    t.notOk(scripts[name], name);
  }
  t.match(scripts.prepack, 'npm run build', 'the build precedes the packaging');
  t.equal(bin.troupe, 'dist/src/main.js');
});

t.test('links the example pages at the address that vite prints', async (t) => {
  t.match(words, '`npx vite test/examples --port 3002`');
  const links = [...readFileSync(join(EXAMPLES, 'index.html'), 'utf8').matchAll(/href="\.\/([^"]+)"/g)];
  t.strictSame(
    links.map(([, folder]) => folder),
    ['chat-page/', 'ag-ui-page/'],
  );
  for (const [, folder = ''] of links) t.ok(existsSync(join(EXAMPLES, folder, 'index.html')), folder);
});

t.test('describes the systemd unit and the image correctly', async (t) => {
  const [unit = ''] = /npx troupe systemd[^|]*/.exec(words) ?? [];
  t.match(await shell(here(unit, '')), 'Environment=SERVICE_HTTP_ADDR=0.0.0.0:38080');
  t.match(words, 'docker exec troupe node dist/src/main.js backup');
  t.match(readFileSync(join(ROOT, 'src/docs/deploy/Dockerfile'), 'utf8'), '"dist/src/main.js"]');
});

/** Pages that other tests follow as a whole: `packed`, `e2e/network` and `cluster/laptop`. */
const FOLLOWED = new Set([
  'src/docs/tutorial.md',
  'src/docs/guides/on-a-network.md',
  'src/docs/operate/cluster.md',
]);

/** Commands that other tests run, or that need a network, a container or another user. */
const ELSEWHERE = [
  /\bnpm (install|run|start)\b/,
  /^npx troupe (systemd|machines|bench|prune)/,
  /^npx openapi-typescript/,
  /--settings-file/,
  /^docker /,
  /^git clone/,
];

const isElsewhere = (text: string): boolean => ELSEWHERE.some((pattern) => pattern.test(text));

t.test('runs every command against a service with the stated result', async (t) => {
  await buildManual();
  const dir = t.testdir();
  const { url } = dev;
  const [, file = ''] = /Admin token\s+in (\S+)/.exec(dev.output) ?? [];
  const token = readFileSync(file, 'utf8').trim();
  const commands = blocks('sh')
    .filter(({ file }) => !FOLLOWED.has(file))
    .map(({ text }) => text);
  for (const pattern of ELSEWHERE)
    t.ok(
      commands.some((text) => pattern.test(text)),
      String(pattern),
    );
  const outputs = new Map<string, string>();
  for (const command of commands.filter((text) => !isElsewhere(text))) {
    const line = here(command, url)
      .replaceAll('curl ', 'curl -sf ')
      .replaceAll('./config', join(dir, 'config'));
    const service = line.replace(/(main\.js (config|eval|files|keys|users) \w+)/g, `$1 --url ${url}`);
    outputs.set(command, await shell(`export SERVICE_ADMIN_API_BEARER_TOKEN=${token}\n${service}`, dir));
  }
  const resultOf = (part: string): string =>
    Array.from(outputs).find(([command]) => command.includes(part))?.[1] ?? '';
  t.match(resultOf('troupe docs'), '## Documentation');
  const hello = resultOf('"threadId":"first"');
  for (const line of blockWith('text', 'run_start').split('\n\n')) {
    const type = /"event_type":"(\w+)"/.exec(line)?.[1];
    t.match(hello, `"event_type":"${type}"`);
  }
  t.match(hello, '"delta":"Scripted response to: Hello"');
  const reading = resultOf('/runs/latest');
  t.match(reading, '"total":2');
  t.match(reading, '"status":"done"');
  t.match(resultOf('How is the weather'), /sunny in Tokyo.*"type":"natural_end"/s);
  t.match(resultOf('"mode":"queue"'), /"status":"(running|queued)","thread_id":"first"/);
  t.match(resultOf('/events?limit'), '"event_kind":"RunFinished"');
  const poet = resultOf('agents/poet');
  t.match(poet, '"system_prompt":"Answer in one verse."');
  t.match(poet, '"delta":"Scripted response to: Rain"');
  t.match(poet, '"resource":"agents/poet"');
  t.match(readFileSync(join(dir, 'config', 'agents.yaml'), 'utf8'), 'Answer in one verse.');
  t.match(resultOf('config export'), /unchanged/);
  const a2a = resultOf('agent-card.json');
  t.match(a2a, '"protocolBinding":"HTTP+JSON"');
  t.match(a2a, '"parts":[{"text":"Scripted response to: Hello"}]');
  t.match(a2a, '"totalSize":');
  t.match(resultOf('/v1/models'), '"content":"Scripted response to: Hello"');
  t.match(resultOf('/v1/mcp'), '"text":"Scripted response to: Hello"');
  t.match(resultOf('agents/mirror'), '"delta":"Scripted response to: Who answers?"');
  const evals = resultOf('/import-traces');
  t.match(evals, '"final_status":"ok"');
  t.match(evals, /"imported_count":[1-9]/);
  const { reports } = readReports(readFileSync(join(dir, 'report.ndjson'), 'utf8'));
  t.ok(reports.length > 0 && reports.every(({ passed }) => passed));
  t.match(readFileSync(join(dir, 'results.xml'), 'utf8'), 'failures="0"');
  t.match(readFileSync(join(dir, 'summary.md'), 'utf8'), '## ✅ greetings');
});

/** Starts a service with a file of this content, and returns its address. */
const served = async (t: Test, option: string, name: string, file: string, ...more: string[]) => {
  const dir = t.testdir({ [name]: file });
  const files = [option, join(dir, name), '--storage-dir', join(dir, 'data')];
  const { url } = await serveHere(t, ['serve', ...files, ...more], {
    SERVICE_ADMIN_API_BEARER_TOKEN: 'choose-one',
    ANTHROPIC_API_KEY: 'key',
    // Without a key, the seeded models return scripted text.
    OPENAI_API_KEY: file.includes('openai_resp') ? 'key' : '',
  });
  return url;
};

t.test('starts a service from the settings file', async (t) => {
  t.ok(await served(t, '--settings-file', 'troupe.yaml', blockWith('yaml', '# troupe.yaml')));
  t.match(blockWith('sh', '--settings-file'), 'SERVICE_ADMIN_API_BEARER_TOKEN');
});

t.test('starts a service from the settings file with a pool', async (t) => {
  t.ok(await served(t, '--settings-file', 'pool.yaml', blockWith('yaml', 'model_pools')));
});

t.test('accepts the agent with provider tools, and offers the tools', async (t) => {
  const file = blockWith('yaml', 'provider_tools');
  const url = await served(t, '--settings-file', 'tools.yaml', file);
  const headers = { authorization: 'Bearer choose-one' };
  const read = async (path: string) => (await fetch(`${url}${path}`, { headers })).json();
  t.match(await read('/v1/config/agents/researcher'), {
    provider_tools: [
      { type: 'web_search', allowed_domains: ['nodejs.org', 'developer.mozilla.org'], max_uses: 3 },
      { type: 'code_execution' },
    ],
  });
  t.notMatch(JSON.stringify(await read('/v1/config/diagnostics')), 'provider_tool');
});

t.test('accepts the file with settings of model calls', async (t) => {
  t.ok(await served(t, '--settings-file', 'settings.yaml', blockWith('yaml', 'top_k')));
});

t.test('allows, asks and denies as the permission section states', async (t) => {
  const file = blockWith('yaml', 'default_behavior');
  const url = await served(t, '--settings-file', 'agents.yaml', file, '--seed-profile', 'demo');
  const end = async (content: string) => (await ask(url, 'careful', content)).events.at(-1).termination;
  t.match(await end('RUN_WEATHER_TOOL'), { type: 'stopped', value: { code: 'max_rounds' } });
  t.match(await end('RUN_STOCK_TOOL'), { type: 'suspended' });
});

t.test('starts a service from the config file with its plugin and provider', async (t) => {
  const example = blockWith('js', 'troupe.config.mjs');
  const zod = import.meta.resolve('zod');
  const index = pathToFileURL(INDEX).href;
  const file = example.replace("'troupe'", `'${index}'`).replace("'zod'", `'${zod}'`);
  const url = await served(t, '--config', 'troupe.config.mjs', file);
  t.equal((await ask(url, 'host', 'Hello')).text, 'I was told: Call the user Ada.');
});

t.test('lists the built-in plugins in the plugins table', async (t) => {
  const log = { info: () => {} };
  const skills = createSkillSource(() => ({ skills: [], broken: [] }));
  for (const { id } of builtInPlugins({ log, skills })) t.match(words, `\`${id}\``);
});

t.test('runs the embedding example', async (t) => {
  const program = await programOf(t, 'embedded', blockWith('ts', 'resolveScope'));
  const output = await outputOf(() => import(program));
  t.match(output, /^http:\/\/127\.0\.0\.1:\d+\n$/);
});

t.test('adds the parts of the tool example to the completion', async (t) => {
  const example = blockWith('ts', 'parts: [');
  const { chart } = await import(await programOf(t, 'manual-parts', example));
  const model = scriptedModel([{ calls: [{ tool: 'chart', args: { numbers: [3, 5] } }] }, 'There.']);
  await using troupe = await startTestTroupe({ tools: [chart], model });
  const { events } = await troupe.run('Draw');
  t.match(
    events.filter(({ event_type }) => event_type === 'activity_snapshot'),
    [
      { activity_type: 'file', content: { url: /^data:image\/svg\+xml;base64,/, filename: 'chart.svg' } },
      { activity_type: 'file', content: { mediaType: 'application/pdf' } },
      { activity_type: 'data', content: { data: { numbers: [3, 5] } } },
    ],
  );
});

t.test('sends the content of the tool example to the model', async (t) => {
  const example = blockWith('ts', 'content: [\n');
  const { pixel } = await import(await programOf(t, 'manual-content', example));
  const asked: unknown[] = [];
  const model = scriptedModel([
    { calls: [{ tool: 'pixel' }] },
    ({ messages }) => {
      asked.push(messages.at(-1)?.content);
      return 'There.';
    },
  ]);
  await using troupe = await startTestTroupe({ tools: [pixel], model });
  await troupe.run('Draw');
  t.match(asked, [[{ text: 'The pixel:' }, { type: 'image', source: { media_type: 'image/png' } }]]);
});

t.test('streams runs inside the program and with a client', async (t) => {
  const programs = blocks('ts').filter(({ text }) =>
    /seed: \{ profile: 'demo' \}|client\.runs\.stream/.test(text),
  );
  t.ok(programs.length >= 2);
  for (const [index, { file, text }] of programs.entries()) {
    const program = await programOf(t, `manual-stream-${index}`, text);
    t.match(await outputOf(() => import(program)), 'Scripted response to: Hello', file);
  }
});

t.test('prints the stated output of each program with a scripted model', async (t) => {
  const programs = shown.flatMap(({ file, language, text }, index) =>
    language === 'ts' && text.includes('await startTestTroupe(') && !text.includes("'node:test'")
      ? { file, text, output: shown[index + 1] }
      : [],
  );
  t.ok(programs.length > 0);
  for (const [index, { file, text, output }] of programs.entries()) {
    t.match(output, { file, language: 'text' });
    const program = await programOf(t, `manual-scripted-${index}`, text);
    t.equal(await outputOf(() => import(program)), `${output?.text}\n`, file);
  }
});

t.test('types the structured result', async (t) => {
  const example = blockWith('ts', 'defineAgent(');
  const value = { team: 'billing', urgent: true };
  const model = scriptedModel([{ calls: [{ tool: 'final_answer', args: value }] }]);
  Object.assign(globalThis, { given: { providers: [model.provider], models: [model.entry] } });
  const program = await programOf(
    t,
    'manual-output',
    example
      .replace("model_id: 'default'", `model_id: '${model.id}'`)
      .replace('agents: [triage]', 'agents: [triage], ...globalThis.given'),
  );
  t.match(await outputOf(() => import(program)), 'billing true');
});

/** A stream in Cohere's own protocol. */
const COHERE_ANSWER = [
  { type: 'message-start', id: 'm' },
  { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
  { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Bonjour' } } } },
  { type: 'content-end', index: 0 },
  {
    type: 'message-end',
    delta: { finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 1, output_tokens: 1 } } },
  },
];

t.test('streams a completion of an AI SDK provider', async (t) => {
  const asked: { url: string; body: { model?: string; messages?: object[] } }[] = [];
  t.intercept(globalThis, 'fetch', {
    value: async (url: string, { body }: RequestInit) => {
      asked.push({ url, body: JSON.parse(String(body)) });
      const events = COHERE_ANSWER.map((event) => `data: ${JSON.stringify(event)}\n\n`);
      return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  process.env.COHERE_API_KEY = 'key';
  t.teardown(() => delete process.env.COHERE_API_KEY);
  const example = blockWith('ts', 'fromAiSdk');
  const program = await programOf(t, 'manual-ai-sdk', example);
  t.equal(await outputOf(() => import(program)), 'Bonjour\n');
  t.match(asked, [
    { url: 'https://api.cohere.com/v2/chat', body: { model: 'command-a-03-2025', messages: [{}] } },
  ]);
});

t.test('streams a run of a service that is mounted in an app', async (t) => {
  const example = blockWith('ts', 'new Hono');
  const program = await programOf(t, 'manual-mounted', `${example}\nexport { troupe };\n`);
  const { app, troupe } = await import(program);
  t.teardown(() => troupe.stop());
  t.equal(await (await app.request('/')).text(), 'The shop');
  const answer = await app.request('/agents/v1/runs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  t.match(await answer.text(), /"delta":"Scripted response to: Hello"/);
});

t.test('runs the AG-UI example', async (t) => {
  const example = blockWith('ts', 'HttpAgent');
  const program = await programOf(t, 'manual-ag-ui', example);
  const output = await outputOf(() => import(program));
  t.match(output, /Scripted response to: Hello\n$/);
});

t.test('draws the statecharts as documented', async (t) => {
  const dir = t.testdir();
  const block = blockWith('sh', 'troupe machines');
  const lines = block.replace('./statecharts', join(dir, 'out')).trim().split('\n');
  const said = [];
  for (const line of lines) said.push(await runHere(line.replace('npx troupe ', '').split(' ')));
  t.strictSame(
    said.map(({ code }) => code),
    [0, 0, 0],
  );
  t.match(said[1]?.output, 'stateDiagram-v2');
  t.match(readFileSync(join(dir, 'out', 'run.svg'), 'utf8'), '<svg');
});

t.test('receives the report of another program as documented', async (t) => {
  const [dir, token] = [t.testdir(), 'choose-one'];
  const flags = ['--storage-dir', join(dir, 'data'), '--inspection-addr', '127.0.0.1:0'];
  const { url } = await serveHere(t, ['serve', ...flags], { SERVICE_ADMIN_API_BEARER_TOKEN: token });
  const list = async () => {
    const headers = { authorization: `Bearer ${token}` };
    return ProgramList.parse(await (await fetch(`${url}/v1/system/programs`, { headers })).json());
  };
  const { url: address } = await list();
  t.match(words, '`--inspection-addr 127.0.0.1:38081`');
  const example = blockWith('ts', 'createWebSocketInspector');
  t.ok(example.trim().split('\n').length <= 12, 'the example is short');
  const reporting = example.replace('ws://127.0.0.1:38081', String(address));
  const file = fileURLToPath(await programOf(t, 'manual-inspected', reporting));
  const program = execFile(process.execPath, [file]);
  t.teardown(() => program.kill());
  for (;;) {
    const { items } = await list();
    if (items[0]?.actors === 1 && items[0].machines[0]?.chart === 'drawn') break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.match(await list(), { items: [{ name: 'door', connected: true, machines: [{ name: 'door' }] }] });
});

t.test('runs the load generator against a service as documented', async (t) => {
  const block = blockWith('sh', 'troupe bench');
  const command = here(block, dev.url).replace(
    '--connections 64 --duration 5s',
    '--connections 2 --duration 1s',
  );
  t.match(await shell(command), /streams/);
});
