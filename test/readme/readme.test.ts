import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import t, { type Test } from 'tap';
import { readReports } from '../../src/evals/report.ts';
import { createSkillSource } from '../../src/plugins/skills/source.ts';
import { builtInPlugins } from '../../src/registry/built-in-plugins.ts';
import { ProgramList } from '../../src/schema/program.ts';
import { settingsMarkdown } from '../../src/settings.ts';
import { scriptedModel, startTestTroupe } from '../../src/testing/index.ts';
import { SHORT_LIVED, unhooked } from '../child.ts';
import { INDEX, MAIN } from '../e2e/built.ts';
import { outputOf, runHere, serveHere } from '../e2e/in-process.ts';
import { ask } from '../examples/ask.ts';
import '../statecharts/kept-layouts.ts';
import { adaptersMarkdown } from './adapters-table.ts';
import { metricsMarkdown } from './metrics-table.ts';

/** What the README shows is run here, as it stands there, but for the port and what installs. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLES = join(ROOT, 'test', 'examples');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, text]) => text ?? '',
  );

const scripts: Record<string, string> = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts;
/** Standard output of a block; fails when the shell does. */
const shell = async (block: string, cwd = ROOT): Promise<string> =>
  (await promisify(execFile)(...unhooked('bash', ['-ec', block]), { cwd })).stdout;

const TROUPE = `node ${SHORT_LIVED.join(' ')} ${MAIN}`;

/** The command as a checkout runs it, on the address of the test. */
const here = (block: string, url: string): string =>
  block.replaceAll('npx troupe', TROUPE).replaceAll('http://127.0.0.1:38080', url);

/** The service under development that the lines of the README speak to. */
const dev = await serveHere(t, ['dev', '--storage-dir', join(t.testdir(), 'data')]);

const CLIENT = join(dirname(INDEX), 'client', 'index.js');
const AI_SDK = join(dirname(INDEX), 'ai-sdk', 'index.js');

/** A program of the README with what is built, as a module, and no data but its own. */
const programOf = async (t: Test, name: string, example: string): Promise<string> => {
  const dir = join(ROOT, '.tap', name);
  mkdirSync(dir, { recursive: true });
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const { code } = await transform(example, { loader: 'ts' });
  const file = join(dir, 'example.mjs');
  const given = here(code, dev.url)
    .replace(/["']troupe["']/, `'${pathToFileURL(INDEX).href}'`)
    .replace(/["']troupe\/client["']/, `'${pathToFileURL(CLIENT).href}'`)
    .replace(/["']troupe\/ai-sdk["']/, `'${pathToFileURL(AI_SDK).href}'`)
    .replace(/["']\.\/data["']/, `'${join(dir, 'data')}'`);
  writeFileSync(file, given);
  return pathToFileURL(file).href;
};

t.test('the settings table is the one of the code', async (t) => {
  const shown = /<!-- settings -->\n([\s\S]*?)<!-- \/settings -->/.exec(readme)?.[1];
  t.equal(shown?.trim(), settingsMarkdown().trim(), 'write it again with: npm run readme');
});

t.test('the metrics table is the one of the code', async (t) => {
  const shown = /<!-- metrics -->\n([\s\S]*?)<!-- \/metrics -->/.exec(readme)?.[1];
  t.equal(shown?.trim(), metricsMarkdown().trim(), 'write it again with: npm run readme');
});

t.test('the adapters table is the one of the code', async (t) => {
  const shown = /<!-- adapters -->\n([\s\S]*?)<!-- \/adapters -->/.exec(readme)?.[1];
  t.equal(shown?.trim(), adaptersMarkdown().trim(), 'write it again with: npm run readme');
});

t.test('the first lines start and test the service by its own scripts', async (t) => {
  t.match(blocks('sh')[0], 'npm install && npm start');
  t.match(blocks('sh')[1], 'npm install && npm test');
  t.match(scripts.start, /^node .*dist\/src\/main\.js dev$/);
  t.match(scripts.test, /npm run test:run$/);
});

t.test('every script that the README names is there', async (t) => {
  const named = Array.from(readme.matchAll(/\bnpm run ([\w:-]+)/g), ([, name = '']) => name);
  t.ok(named.includes('test:run'));
  t.strictSame(
    named.filter((name) => !(name in scripts)),
    [],
  );
});

t.test('every picture that it shows is there, and small', async (t) => {
  const pictures = [...readme.matchAll(/!\[(.*?)\]\((.*?)\)/g)];
  t.ok(pictures.length >= 5);
  for (const [, words, path = ''] of pictures) {
    t.ok(words, `${path} is told to who cannot see it`);
    const picture = readFileSync(join(ROOT, path));
    t.equal(picture.readUInt16BE(), 0xffd8, `${path} is a JPEG`);
    t.ok(picture.byteLength < 120_000, `${path} has ${picture.byteLength} bytes`);
  }
});

t.test('who installs the package runs no script of it', async (t) => {
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
  t.match(scripts.prepack, 'npm run build', 'what is packed was built');
  t.equal(bin.troupe, 'dist/src/main.js');
});

t.test('the address that vite prints leads to the pages', async (t) => {
  t.match(readme, '`npx vite test/examples --port 3002`');
  const links = [...readFileSync(join(EXAMPLES, 'index.html'), 'utf8').matchAll(/href="\.\/([^"]+)"/g)];
  t.strictSame(
    links.map(([, folder]) => folder),
    ['chat-page/', 'ag-ui-page/'],
  );
  for (const [, folder = ''] of links) t.ok(existsSync(join(EXAMPLES, folder, 'index.html')), folder);
});

t.test('the unit and the image are made as it says', async (t) => {
  const [unit = ''] = /npx troupe systemd[^|]*/.exec(readme) ?? [];
  t.match(await shell(here(unit, '')), 'Environment=SERVICE_HTTP_ADDR=0.0.0.0:38080');
  t.match(readme, 'docker exec troupe node dist/src/main.js backup');
  t.match(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'), '"dist/src/main.js"]');
});

t.test('every line against a running service does as it says', async (t) => {
  const dir = t.testdir();
  const { url } = dev;
  const [, file = ''] = /Admin token\s+in (\S+)/.exec(dev.output) ?? [];
  const token = readFileSync(file, 'utf8').trim();
  const answers: string[] = [];
  for (const block of blocks('sh').filter((each) => /curl|troupe (config|eval)/.test(each))) {
    const line = here(block, url)
      .replaceAll('curl ', 'curl -sf ')
      .replaceAll('./config', join(dir, 'config'));
    const service = line.replace(/(main\.js (config|eval) \w+)/g, `$1 --url ${url}`);
    answers.push(await shell(`export SERVICE_ADMIN_API_BEARER_TOKEN=${token}\n${service}`, dir));
  }
  t.equal(answers.length, 12);
  const [hello, reading, tool, queued, events, poet, files, a2a, mirror, mcp, evals] = answers;
  for (const line of blocks('text')[0]?.split('\n\n') ?? []) {
    const type = /"event_type":"(\w+)"/.exec(line)?.[1];
    t.match(hello, `"event_type":"${type}"`);
  }
  t.match(hello, '"delta":"Scripted response to: Hello"');
  t.match(reading, '"total":2');
  t.match(reading, '"status":"done"');
  t.match(tool, '"code":"max_rounds"');
  t.match(queued, /"status":"(running|queued)","thread_id":"first"/);
  t.match(events, '"event_kind":"RunFinished"');
  t.match(poet, '"system_prompt":"Answer in one verse."');
  t.match(poet, '"delta":"Scripted response to: Rain"');
  t.match(poet, '"resource":"agents/poet"');
  t.match(readFileSync(join(dir, 'config', 'agents.yaml'), 'utf8'), 'Answer in one verse.');
  t.match(files, /unchanged/);
  t.match(a2a, '"protocolBinding":"HTTP+JSON"');
  t.match(a2a, '"parts":[{"text":"Scripted response to: Hello"}]');
  t.match(a2a, '"totalSize":');
  t.match(mcp, '"text":"Scripted response to: Hello"');
  t.match(mirror, '"delta":"Scripted response to: Who answers?"');
  t.match(evals, '"final_status":"ok"');
  t.match(evals, /"imported_count":[1-9]/);
  const { reports } = readReports(readFileSync(join(dir, 'report.ndjson'), 'utf8'));
  t.ok(reports.length > 0 && reports.every(({ passed }) => passed));
  t.match(readFileSync(join(dir, 'results.xml'), 'utf8'), 'failures="0"');
  t.match(readFileSync(join(dir, 'summary.md'), 'utf8'), '## ✅ greetings');
});

/** The address of a service that is started with a file of this content. */
const served = async (t: Test, option: string, name: string, file: string, ...more: string[]) => {
  const dir = t.testdir({ [name]: file });
  const files = [option, join(dir, name), '--storage-dir', join(dir, 'data')];
  const { url } = await serveHere(t, ['serve', ...files, ...more], {
    SERVICE_ADMIN_API_BEARER_TOKEN: 'choose-one',
    ANTHROPIC_API_KEY: 'key',
    // The seeded models answer scripted text without it.
    OPENAI_API_KEY: file.includes('openai_resp') ? 'key' : '',
  });
  return url;
};

t.test('the settings file starts a service with its agent', async (t) => {
  const [file = ''] = blocks('yaml');
  t.ok(await served(t, '--settings-file', 'troupe.yaml', file));
  t.match(
    blocks('sh').find((block) => block.includes('--settings-file')),
    'SERVICE_ADMIN_API_BEARER_TOKEN',
  );
});

t.test('the settings file with a pool starts a service', async (t) => {
  const [, file = ''] = blocks('yaml');
  t.match(file, 'model_pools');
  t.ok(await served(t, '--settings-file', 'pool.yaml', file));
});

t.test('the agent with tools of its provider is accepted, and they are offered', async (t) => {
  const file = blocks('yaml').find((block) => block.includes('provider_tools')) ?? '';
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

t.test('the file with settings of model calls is accepted', async (t) => {
  const [, , file = ''] = blocks('yaml');
  t.match(file, 'top_k');
  t.ok(await served(t, '--settings-file', 'settings.yaml', file));
});

t.test('the permission section allows, asks and denies as it says', async (t) => {
  const [, , , file = ''] = blocks('yaml');
  const url = await served(t, '--settings-file', 'agents.yaml', file, '--seed-profile', 'demo');
  const end = async (content: string) => (await ask(url, 'careful', content)).events.at(-1).termination;
  t.match(await end('RUN_WEATHER_TOOL'), { type: 'stopped', value: { code: 'max_rounds' } });
  t.match(await end('RUN_STOCK_TOOL'), { type: 'suspended' });
});

t.test('the config file starts a service with its plugin and provider', async (t) => {
  const [example = ''] = blocks('js');
  const zod = import.meta.resolve('zod');
  const index = pathToFileURL(INDEX).href;
  const file = example.replace("'troupe'", `'${index}'`).replace("'zod'", `'${zod}'`);
  const url = await served(t, '--config', 'troupe.config.mjs', file);
  t.equal((await ask(url, 'host', 'Hello')).text, 'I was told: Call the user Ada.');
});

t.test('the plugins table has the built-in plugins', async (t) => {
  const log = { info: () => {} };
  const skills = createSkillSource(() => ({ skills: [], broken: [] }));
  for (const { id } of builtInPlugins({ log, skills })) t.match(readme, `\`${id}\``);
});

t.test('the embedding example runs', async (t) => {
  const [example = ''] = blocks('ts');
  const program = await programOf(t, 'readme', example);
  const output = await outputOf(() => import(program));
  t.match(output, /^http:\/\/127\.0\.0\.1:\d+\n$/);
});

t.test('the parts of the tool example are in the answer', async (t) => {
  const example = blocks('ts').find((each) => each.includes('parts: [')) ?? '';
  const { chart } = await import(await programOf(t, 'readme-parts', example));
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

t.test('the model reads the content of the tool example', async (t) => {
  const example = blocks('ts').find((each) => each.includes('content: [\n')) ?? '';
  const { pixel } = await import(await programOf(t, 'readme-content', example));
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

t.test('runs are streamed inside the program, and by a client', async (t) => {
  for (const call of ['troupe.runs.stream', 'client.runs.stream']) {
    const example = blocks('ts').find((each) => each.includes(call)) ?? '';
    const program = await programOf(t, `readme-${call}`, example);
    t.match(await outputOf(() => import(program)), 'Scripted response to: Hello', call);
  }
});

t.test('the structured result has its type', async (t) => {
  const example = blocks('ts').find((each) => each.includes('defineAgent(')) ?? '';
  const value = { team: 'billing', urgent: true };
  const model = scriptedModel([{ calls: [{ tool: 'final_answer', args: value }] }]);
  Object.assign(globalThis, { given: { providers: [model.provider], models: [model.entry] } });
  const program = await programOf(
    t,
    'readme-output',
    example
      .replace("model_id: 'default'", `model_id: '${model.id}'`)
      .replace('agents: [triage]', 'agents: [triage], ...globalThis.given'),
  );
  t.match(await outputOf(() => import(program)), 'billing true');
});

/** A stream of Cohere's own protocol. */
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

t.test('a provider of the AI SDK answers', async (t) => {
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
  const example = blocks('ts').find((each) => each.includes('fromAiSdk')) ?? '';
  const program = await programOf(t, 'readme-ai-sdk', example);
  t.equal(await outputOf(() => import(program)), 'Bonjour\n');
  t.match(asked, [
    { url: 'https://api.cohere.com/v2/chat', body: { model: 'command-a-03-2025', messages: [{}] } },
  ]);
});

t.test('a service that is mounted in an app streams a run', async (t) => {
  const example = blocks('ts').find((each) => each.includes('new Hono')) ?? '';
  const program = await programOf(t, 'readme-mounted', `${example}\nexport { troupe };\n`);
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

t.test('the AG-UI example gets an answer', async (t) => {
  const example = blocks('ts').find((each) => each.includes('HttpAgent')) ?? '';
  const program = await programOf(t, 'readme-ag-ui', example);
  const output = await outputOf(() => import(program));
  t.match(output, /Scripted response to: Hello\n$/);
});

t.test('the statecharts are drawn as it says', async (t) => {
  const dir = t.testdir();
  const block = blocks('sh').find((each) => each.includes('troupe machines')) ?? '';
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

t.test('a program of somebody else reports as it says', async (t) => {
  const [dir, token] = [t.testdir(), 'choose-one'];
  const flags = ['--storage-dir', join(dir, 'data'), '--inspection-addr', '127.0.0.1:0'];
  const { url } = await serveHere(t, ['serve', ...flags], { SERVICE_ADMIN_API_BEARER_TOKEN: token });
  const list = async () => {
    const headers = { authorization: `Bearer ${token}` };
    return ProgramList.parse(await (await fetch(`${url}/v1/system/programs`, { headers })).json());
  };
  const { url: address } = await list();
  t.match(readme, '`--inspection-addr 127.0.0.1:38081`');
  const example = blocks('ts').find((each) => each.includes('createWebSocketInspector')) ?? '';
  t.ok(example.trim().split('\n').length <= 12, 'ten lines, or so');
  const reporting = example.replace('ws://127.0.0.1:38081', String(address));
  const file = fileURLToPath(await programOf(t, 'readme-inspected', reporting));
  const program = execFile(process.execPath, [file]);
  t.teardown(() => program.kill());
  for (;;) {
    const { items } = await list();
    if (items[0]?.actors === 1 && items[0].machines[0]?.chart === 'drawn') break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.match(await list(), { items: [{ name: 'door', connected: true, machines: [{ name: 'door' }] }] });
});

t.test('the load generator runs against a service as it says', async (t) => {
  const block = blocks('sh').find((each) => each.includes('troupe bench')) ?? '';
  const command = here(block, dev.url).replace(
    '--connections 64 --duration 5s',
    '--connections 2 --duration 1s',
  );
  t.match(await shell(command), /streams/);
});
