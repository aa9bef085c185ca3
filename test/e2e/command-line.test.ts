import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import t, { type Test } from 'tap';
import { settingFlags } from '../../src/settings/index.ts';
import { ask } from '../examples/ask.ts';
import { inProject } from '../run/places.ts';
import { runHere, serveHere } from './in-process.ts';
import { type Command, runCommand } from './service.ts';

/** The first steps of a new user as processes: start, paste, stop, start again. */

/** State that is shared by several tests lives as long as the file. */
const wholeFile = t;

const FREE = ['--http-addr', '127.0.0.1:0'];
const TOKEN = { SERVICE_ADMIN_API_BEARER_TOKEN: 'x' };

/** A service that several tests share, started by the first of them. */
const lazily = <Started>(start: () => Promise<Started>): (() => Promise<Started>) => {
  let started: Promise<Started> | undefined;
  return () => {
    started ??= start();
    return started;
  };
};

const urlOf = async (service: Command): Promise<string> => (await service.says(/http:\/\/[\d.:]+/))[0];

/** A service with minimal settings, and with an unknown variable. */
const plain = lazily(async () => {
  const data = join(t.testdir(), 'data');
  const env = { ...TOKEN, SERVICE_HTTP_ADRR: 'x', SERVICE_LOG_LEVEL: 'warn' };
  const service = runCommand(t, ['serve', ...FREE, '--storage-dir', data], env);
  return { service, data, url: await urlOf(service) };
});

/** The service under development that the first test has restarted. */
let developed: Command | undefined;

const paste = async (line: string): Promise<string> =>
  (await promisify(execFile)('bash', ['-c', line])).stdout;

t.test('prints a curl line in dev that streams a response when pasted', async (t) => {
  const dir = join(t.testdir(), 'data');
  const dev = runCommand(t, ['dev', ...FREE, '--storage-dir', dir]);
  const [line] = await dev.says(/curl -N .*'\n/);
  const frames = await paste(line);
  t.match(frames, 'data: {"event_type":"run_start"');
  t.match(frames, '{"event_type":"text_delta","delta":"Scripted response to: Hello"}');
  t.match(frames, '"termination":{"type":"natural_end"}');

  const [, file = ''] = await dev.says(/Admin token\s+in (\S+)/);
  t.equal(file, join(dir, 'admin-token'));
  t.equal(statSync(file).mode & 0o777, 0o600);
  const token = readFileSync(file, 'utf8').trim();
  t.notMatch(dev.output() + dev.errors(), token, 'a pipe does not receive the token');
  const [, url] = await dev.says(/API\s+(\S+)/);
  const info = await fetch(`${url}/v1/system/info`, { headers: { authorization: `Bearer ${token}` } });
  t.equal(info.status, 200);
  const { version } = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));
  t.match(dev.output(), `Troupe is ready. ${version}`);
  const [, page = ''] = await dev.says(/Console\s+(\S+)/);
  const shown = await fetch(page, { headers: { accept: 'text/html' } });
  t.match(shown.headers.get('content-type'), 'text/html');

  dev.child.kill('SIGTERM');
  t.equal(await dev.ended(), 0);
  developed = runCommand(wholeFile, ['dev', ...FREE, '--storage-dir', dir]);
  await developed.says(/Admin token\s+in (\S+)/);
  t.equal(readFileSync(file, 'utf8').trim(), token, 'a restart keeps the token');
});

t.test('streams deltas with the same line from an OpenAI-compatible server in the environment', async (t) => {
  const mock = new LLMock({ port: 0, chunkSize: 4 });
  mock.onMessage('Hello', { content: 'Real words from a real model' });
  await mock.start();
  t.teardown(() => mock.stop());
  const dev = await serveHere(t, ['dev', '--storage-dir', join(t.testdir(), 'data')], {
    OPENAI_BASE_URL: `${mock.url}/v1`,
    OPENAI_API_KEY: 'key',
    AGENT_MODEL: 'gpt-4o',
  });
  const [line = ''] = /curl -N .*'\n/.exec(dev.output) ?? [];
  const deltas = [...(await paste(line)).matchAll(/"text_delta","delta":"([^"]*)"/g)].map(
    ([, delta]) => delta,
  );
  t.ok(deltas.length > 1, 'the completion is streamed');
  t.equal(deltas.join(''), 'Real words from a real model');
});

t.test('accepts providers, models and agents from a settings file', async (t) => {
  const mock = new LLMock({ port: 0 });
  mock.onMessage('Hello', { content: 'From Claude' });
  await mock.start();
  t.teardown(() => mock.stop());
  const dir = t.testdir();
  const file = join(dir, 'troupe.yaml');
  writeFileSync(
    file,
    `providers:
  - { id: claude, adapter: anthropic, api_key: key, base_url: "${mock.url}/v1" }
models:
  - { id: sonnet, provider_id: claude, upstream_model: claude-sonnet-4-5 }
agents:
  - { id: writer, model_id: sonnet, system_prompt: Be brief. }
`,
  );
  const args = ['serve', '--storage-dir', join(dir, 'data'), '--settings-file', file];
  const { url } = await serveHere(t, args, TOKEN);
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agentId: 'writer', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  t.match(await response.text(), '"response":"From Claude"');
});

t.test('does not serve without an admin token, and explains why', async (t) => {
  const { code, errors } = await runHere(['serve', ...FREE, '--storage-dir', join(t.testdir(), 'data')]);
  t.equal(code, 1);
  t.match(
    errors,
    'admin, config, trace, and eval APIs require SERVICE_ADMIN_API_BEARER_TOKEN when any admin surface is exposed',
  );
  t.notMatch(errors, /\bat .*\.ts:/, 'the message has no stack trace');
});

t.test('serves without a token if no admin route is exposed', async (t) => {
  const { url } = await serveHere(t, ['serve', '--storage-dir', join(t.testdir(), 'data')], {
    SERVICE_EXPOSE_CONFIG_ROUTES: '0',
    SERVICE_EXPOSE_EVAL_ROUTES: 'no',
    SERVICE_EXPOSE_TRACE_ROUTES: 'off',
  });
  const info = await fetch(`${url}/v1/system/info`);
  t.equal(info.status, 401);
  t.strictSame(await info.json(), { error: 'admin authentication is not configured' });
});

t.test('rejects invalid settings at startup and names them', async (t) => {
  const cases: [string[], Record<string, string>, string[]][] = [
    [['--body-limit-bytes', 'many'], {}, ['--body-limit-bytes', 'many', 'integer']],
    [[], { SERVICE_DURABILITY: 'maybe' }, ['SERVICE_DURABILITY', 'maybe', 'process, power']],
    [['--nonsense', '1'], {}, ['--nonsense']],
  ];
  for (const [args, env, words] of cases) {
    const { code, errors } = await runHere(['serve', ...FREE, ...args], { ...TOKEN, ...env });
    t.not(code, 0);
    for (const word of words) t.match(errors, word);
  }
});

/** A provider that responds when the server at this URL does. */
const ASKING = (url: string): string => `
export default {
  providers: [{
    id: 'asking',
    model: (upstream) => ({
      provider: 'asking',
      upstream,
      async stream(_, sink) {
        sink.text(await (await fetch(${JSON.stringify(url)})).text());
        return { stop: 'EndTurn' };
      },
    }),
  }],
  models: [{ id: 'asking', provider_id: 'asking', upstream_model: 'x' }],
  agents: [{ id: 'asking', model_id: 'asking' }],
};`;

/** A service in the middle of one run, which continues when `answer` is called. */
const inTheMiddle = async (t: Test) => {
  const asked: ServerResponse[] = [];
  const other = createHttpServer((_, response) => {
    asked.push(response);
    other.emit('asked');
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close().closeAllConnections());
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const dir = t.testdir({ 'c.mjs': ASKING(`http://127.0.0.1:${port}/`) });
  const more = ['--config', join(dir, 'c.mjs'), '--storage-dir', join(dir, 'data')];
  const serve = runCommand(t, ['serve', ...FREE, ...more], TOKEN);
  const [, url = ''] = await serve.says(/listens on (\S+)/);
  const started = once(other, 'asked');
  const run = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      agentId: 'asking',
      threadId: 'T',
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  });
  await started;
  const answer = () => {
    for (const response of asked) response.end('Late words');
  };
  return { serve, url, run, answer };
};

t.test('reports what a stop waits for, and completes the bodies of streams', async (t) => {
  const { serve, url, run, answer } = await inTheMiddle(t);
  const idle = await fetch(`${url}/v1/threads/T/events/stream`);
  serve.child.kill('SIGTERM');
  await serve.says(/^Troupe: stopping\nTroupe: waiting for 1 run, again to stop now\n/m);
  answer();
  t.match(await run.text(), /Late words[\s\S]*"run_finish"/);
  t.match(await idle.text(), /RunFinished/, 'the body is complete');
  t.equal(await serve.ended(), 0);
  t.match(serve.output(), /\nTroupe: stopped\n$/);
});

t.test('exits at once on a second signal', async (t) => {
  const { serve } = await inTheMiddle(t);
  serve.child.kill('SIGINT');
  await serve.says(/waiting for 1 run/);
  serve.child.kill('SIGINT');
  t.equal(await serve.ended(), 1);
  t.match(serve.output(), /stopped without waiting: the next start resumes the runs\n$/);
});

t.test('reports an address or a data directory that is in use', async (t) => {
  const dir = join(t.testdir(), 'data');
  const holder = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => holder.once('listening', resolve));
  t.teardown(() => holder.close());
  const address = holder.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const taken = runCommand(t, ['serve', '--http-addr', `127.0.0.1:${port}`, '--storage-dir', dir], TOKEN);
  t.equal(await taken.ended(), 1);
  t.match(taken.errors(), `127.0.0.1:${port}`);

  const { data } = await plain();
  const second = runCommand(t, ['serve', ...FREE, '--storage-dir', data], TOKEN);
  t.equal(await second.ended(), 1);
  t.match(second.errors(), data);
});

/** An environment in which loading uWebSockets.js fails with this message. */
const withoutBinary = (t: Test, message: string): Record<string, string> => {
  const dir = t.testdir({
    'broken.cjs': `const Module = require('node:module');
const load = Module._load;
Module._load = (name, ...rest) => {
  if (name === 'uWebSockets.js') throw new Error(${JSON.stringify(message)});
  return load(name, ...rest);
};`,
  });
  return { ...TOKEN, NODE_OPTIONS: `--require ${join(dir, 'broken.cjs')}` };
};

const UNSUPPORTED = 'This version of uWS.js supports only some.\n\n';
const NO_BINARY = `${UNSUPPORTED}Error: Cannot find module './uws_linux_x64_999.node'\nRequire stack:\n- /x/uws.js`;

const LOADING: [cause: string, message: string, reason: RegExp][] = [
  [
    'the glibc of the system is too old',
    `${UNSUPPORTED}Error: /lib/x86_64-linux-gnu/libm.so.6: version \`GLIBC_2.38' not found (required by /x/uws_linux_x64_127.node)`,
    /^troupe: the binary of uWebSockets\.js for Node v.* needs glibc 2\.38 or newer, which .* this system does not\n$/,
  ],
  [
    'it has no binary for this version of Node',
    NO_BINARY,
    /^troupe: uWebSockets\.js has no binary for Node v.*; there are binaries for Node 20, .*\n$/,
  ],
  [
    'it is not installed',
    "Cannot find module 'uWebSockets.js'\nRequire stack:\n- /x/main.js",
    /^troupe: uWebSockets\.js is not installed\n$/,
  ],
  [
    'it fails to load in another way',
    `${UNSUPPORTED}Error: symbol not found`,
    /^troupe: uWebSockets\.js cannot be loaded by Node v.*: Error: symbol not found\n$/,
  ],
];
for (const [cause, message, reason] of LOADING) {
  t.test(`refuses to start on uWebSockets.js when ${cause}`, async (t) => {
    const args = ['serve', ...FREE, '--http-server', 'uws', '--storage-dir', join(t.testdir(), 'data')];
    const serve = runCommand(t, args, withoutBinary(t, message));
    t.equal(await serve.ended(), 1);
    t.match(serve.errors(), reason);
  });
}

t.test('starts on node:http and logs the reason once when uWebSockets.js cannot be loaded', async (t) => {
  const args = ['serve', ...FREE, '--http-server', 'auto', '--storage-dir', join(t.testdir(), 'data')];
  const serve = runCommand(t, args, withoutBinary(t, NO_BINARY));
  const health = await fetch(`${await urlOf(serve)}/health`);
  t.equal(health.status, 200);
  serve.child.kill('SIGTERM');
  t.equal(await serve.ended(), 0);
  const lines = serve
    .errors()
    .split('\n')
    .filter((line) => line.includes('"event":"http.uws_unavailable"'));
  t.equal(lines.length, 1);
  t.match(JSON.parse(lines[0] ?? ''), {
    reason: /^uWebSockets\.js has no binary for Node v/,
  });
});

t.test('lists every setting in the help', async (t) => {
  const { code, output } = await runHere(['serve', '--help']);
  t.equal(code, 0);
  for (const { name, env } of settingFlags) {
    t.match(output, `--${name} `);
    t.match(output, env);
  }
});

t.test('the help of dev lists what a first use needs, and other settings by topic', async (t) => {
  const flagsOf = async (...args: string[]): Promise<string[]> => {
    const { code, output } = await runHere(args);
    t.equal(code, 0, args.join(' '));
    return [...output.matchAll(/^ {2}--([\w-]+) <\S+$/gm)].map(([, flag = '']) => flag);
  };
  const first = ['settings-file', 'http-addr', 'storage-dir', 'log-level'];
  t.strictSame(await flagsOf('dev', '--help'), first);
  t.strictSame(await flagsOf('help', 'dev'), first);
  t.strictSame(await flagsOf('dev', '-h', 'mcp'), [
    'mcp-allowed-hosts',
    'mcp-allowed-origins',
    'mcp-session-idle-secs',
    'mcp-session-max',
  ]);
  t.equal((await flagsOf('dev', '--help', 'all')).length, settingFlags.length);
  const { code, errors } = await runHere(['dev', '--help', 'mpc']);
  t.equal(code, 1);
  t.match(errors, /^error: --help has no topic 'mpc'; allowed: all, server, .*telemetry\n$/);
});

t.test('lists only the flags of a command that needs no other settings', async (t) => {
  const { code, output } = await runHere(['backup', '--help']);
  t.equal(code, 0);
  const listed = [...output.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, flag]) => flag);
  t.strictSame(listed, ['--settings-file', '--storage-dir']);
  t.notMatch(output, 'SERVICE_HTTP_ADDR');
});

t.test('suggests the right name of a misspelled flag', async (t) => {
  const { code, errors } = await runHere(['serve', '--http-adr', '127.0.0.1:0'], TOKEN);
  t.equal(code, 1);
  t.equal(errors, "error: unknown option '--http-adr'\n(Did you mean --http-addr?)\n");
});

t.test('suggests the right name of a misspelled variable in the log, unless it logs errors', async (t) => {
  const warned = (await plain()).service.errors();
  t.match(warned, '"problem":"SERVICE_HTTP_ADRR is not a setting; did you mean SERVICE_HTTP_ADDR?"');
  const env = { ...TOKEN, SERVICE_HTTP_ADRR: 'x', SERVICE_LOG_LEVEL: 'error' };
  const silent = runCommand(t, ['serve', ...FREE, '--storage-dir', join(t.testdir(), 'data')], env);
  await silent.says(/listens on/);
  t.equal(silent.errors(), '');
});

t.test('allows loopback pages on any port during development', async (t) => {
  const admitted = async (url: string) => {
    const preflight = await fetch(`${url}/v1/ai-sdk/chat`, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' },
    });
    return preflight.headers.get('access-control-allow-origin');
  };
  t.equal(developed && (await admitted(await urlOf(developed))), 'http://localhost:5173');
  t.equal(await admitted((await plain()).url), null);
  const told = await serveHere(t, ['dev', '--storage-dir', join(t.testdir(), 'data')], {
    SERVICE_ADMIN_CORS_ALLOWED_ORIGINS: 'https://app.example',
  });
  t.equal(await admitted(told.url), null);
});

t.test('backs up everything accepted before it while the service is busy', async (t) => {
  const dir = t.testdir();
  const { data, url } = await plain();
  const post = async (title: string): Promise<string> => {
    const response = await fetch(`${url}/v1/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title }),
    });
    const thread: unknown = await response.json();
    return (thread as { id: string }).id;
  };
  const id = await post('before');
  const backup = runCommand(t, ['backup', join(dir, 'copy'), '--storage-dir', data], TOKEN);
  const isOver = () => backup.child.exitCode !== null || backup.child.signalCode !== null;
  for (let index = 0; !isOver(); index += 1) await post(`during ${index}`);
  t.equal(await backup.ended(), 0, backup.errors());
  t.match(backup.output(), /the copy does not contain the key of its secrets: .*secrets\.key/);
  t.strictSame(readdirSync(join(dir, 'copy')), ['data.mdb']);

  const refused = runCommand(t, ['serve', '--storage-dir', join(dir, 'copy')], TOKEN);
  t.equal(await refused.ended(), 1);
  t.match(refused.errors(), /^troupe: the secrets in .*copy.secrets\.key' is missing: copy that file from/m);
  copyFileSync(join(data, 'secrets.key'), join(dir, 'copy', 'secrets.key'));

  const restored = await serveHere(t, ['serve', '--storage-dir', join(dir, 'copy')], TOKEN);
  const thread = await fetch(`${restored.url}/v1/threads/${id}`);
  t.match(await thread.json(), { metadata: { title: 'before' } });
});

t.test('reports why the service rejects the load, and how to fix it', async (t) => {
  const { url } = await plain();
  const bench = await runHere(['bench', '--url', url, '--connections', '2', '--duration', '10m']);
  t.equal(bench.code, 1);
  t.match(bench.output, /status 400: agent not found: bench +\d/);
  t.match(bench.errors, "the service has no agent 'bench': name another with --agent, or start it with");
});

t.test('prints the statecharts', async (t) => {
  const mermaid = runCommand(t, ['machines', '--machine', 'run']);
  t.equal(await mermaid.ended(), 0);
  t.match(mermaid.output(), 'stateDiagram-v2');
  const json = await runHere(['machines', '--format', 'json', '--machine', 'dispatch']);
  t.match(JSON.parse(json.output), { id: 'dispatch' });
  const svg = ['machines', '--format', 'svg', '--machine', 'run'];
  const folded = await runHere([...svg, '--fold', 'running', 'waiting', '--live', 'running.inferring']);
  t.equal(folded.code, 0);
  t.match(folded.output, /data-state="running" data-fold="folded" class="live"/);
  const levels = await runHere([...svg, '--depth', '0']);
  t.equal(levels.code, 1);
  t.match(levels.errors, /--depth.*at least 1/);
});

t.test('serves and stops cleanly after its output was closed', async (t) => {
  const dir = join(t.testdir(), 'data');
  const { child, says, ended } = runCommand(t, ['dev', '--http-addr', '127.0.0.1:0', '--storage-dir', dir]);
  const [, url = ''] = await says(/API +(http:\S+)/);
  child.stdout?.destroy();
  child.stderr?.destroy();
  for (const name of ['one', 'two', 'three']) t.match((await ask(url, 'default', name)).text, name);
  child.kill('SIGTERM');
  t.equal(await ended(), 0);
});
