import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { chooseHttpServer } from '../../src/http/uws.ts';
import { INDEX } from './built.ts';
import { type Command, runCommand } from './service.ts';

/** `troupe dev --config … --watch`: the service reloads edited code. */

const config = (agent: string): string => `
import { defineProvider } from ${JSON.stringify(pathToFileURL(INDEX).href)};
import { answers } from './lib/answers.ts';
type Agent = { id: string; model_id: string };
const agents: Agent[] = [{ id: '${agent}', model_id: 'parrot' }];
export default {
  providers: [defineProvider({ id: 'parrot', stream: answers })],
  models: [{ id: 'parrot', provider_id: 'parrot', upstream_model: 'parrot' }],
  agents,
};
`;

const answers = (text: string): string => `
enum Stop { End = 'EndTurn' }
export const answers = async (_: unknown, sink: { text(text: string): void }) => {
  sink.text('${text}');
  return { stop: Stop.End };
};
`;

type Watched = { folder: string; write(name: string, text: string): void; service: Command; url: string };

const RELOADED = /Troupe: reloaded in \d+ ms\n/g;

const reloads = ({ service }: Watched): number => service.output().match(RELOADED)?.length ?? 0;

const startWatching = async (
  t: Test,
  address = '127.0.0.1:0',
  env: Record<string, string> = {},
): Promise<Watched> => {
  const folder = t.testdir({ 'troupe.config.ts': config('polly'), lib: { 'answers.ts': answers('first') } });
  const args = [
    ...['dev', '--config', join(folder, 'troupe.config.ts'), '--watch'],
    ...['--http-addr', address, '--storage-dir', join(folder, 'data')],
  ];
  const service = runCommand(t, args, env);
  const [, url = ''] = await service.says(/API\s+(\S+)/);
  // In one step: a busy host may need longer between the steps of a save than the service waits for the next one.
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, 'saved'), text);
    renameSync(join(folder, 'saved'), join(folder, name));
  };
  return { folder, write, service, url };
};

/** @throws Error when the service cannot listen again */
const reloaded = async (watched: Watched, times: number): Promise<void> => {
  while (reloads(watched) < times) {
    const errors = watched.service.errors();
    if (/cannot listen/.test(errors)) throw new Error(errors);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const send = async (
  url: string,
  body?: object,
  until?: RegExp,
  agent = new Agent({ keepAlive: false }),
): Promise<string> => {
  const headers = { 'content-type': 'application/json' };
  const outgoing = request(url, { agent, method: body ? 'POST' : 'GET', headers });
  outgoing.end(body && JSON.stringify(body));
  const [response] = await once(outgoing, 'response');
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (until?.test(text)) break;
  }
  return text;
};

const runOf = (agentId: string, threadId?: string) => ({
  agentId,
  threadId,
  messages: [{ role: 'user', content: 'Hello' }],
});

const answer = async ({ url }: Watched, agent = 'polly'): Promise<string> =>
  /"delta":"([^"]*)"/.exec(await send(`${url}/v1/runs`, runOf(agent)))?.[1] ?? '';

t.test('replaces code on the same port when the config or a module of it is edited', async (t) => {
  const watched = await startWatching(t);
  t.equal(await answer(watched), 'first');
  watched.write('lib/answers.ts', answers('second'));
  await reloaded(watched, 1);
  t.equal(await answer(watched), 'second');

  // Like an editor that writes to the file in place.
  writeFileSync(join(watched.folder, 'troupe.config.ts'), config('jack'));
  await reloaded(watched, 2);
  t.equal(await answer(watched, 'jack'), 'second');
  t.match(watched.service.output(), /^Troupe: reloaded in \d+ ms$/m);

  watched.service.child.kill('SIGTERM');
  t.equal(await watched.service.ended(), 0);
  t.equal(reloads(watched), 2);
});

const SERVERS: readonly ('uws' | 'node')[] = chooseHttpServer('auto', { info() {} }).uWS
  ? ['uws', 'node']
  : ['node'];

for (const server of SERVERS) {
  t.test(`listens on the same port again after each of 20 reloads, with ${server}`, async (t) => {
    const watched = await startWatching(t, undefined, { SERVICE_HTTP_SERVER: server });
    const kept = new Agent({ keepAlive: true });
    t.teardown(() => kept.destroy());
    for (let times = 1; times <= 20; times += 1) {
      await send(`${watched.url}/health`, undefined, undefined, kept);
      t.equal(Object.values(kept.freeSockets).flat().length, 1, 'the client keeps its connection');
      watched.write('lib/answers.ts', answers(`edit ${times}`));
      await reloaded(watched, times);
      t.equal(await answer(watched), `edit ${times}`);
    }
  });
}

t.test('listens on the same Unix socket again', async (t) => {
  const socketPath = join(mkdtempSync(join(tmpdir(), 'watch-')), 's');
  t.teardown(() => rmSync(dirname(socketPath), { recursive: true }));
  const watched = await startWatching(t, `unix:${socketPath}`);
  watched.write('lib/answers.ts', answers('edited'));
  await reloaded(watched, 1);
  const [response] = await once(request({ socketPath, path: '/health', agent: false }).end(), 'response');
  response.resume();
  t.equal(response.statusCode, 200);
});

const BROKEN: [what: string, text: string, message: RegExp][] = [
  ['a syntax error', 'export default {\n  agents: ;\n};', /troupe\.config\.ts:2:11: Unexpected token/],
  ['an error that it throws', "\nthrow new Error('no');", /troupe\.config\.ts:2:7: Error: no/],
  ['a missing module', "import './none.ts';", /troupe\.config\.ts: Cannot find module '\.\/none\.ts'/],
  ['no default export', 'export const agents = [];', /must be an object of type TroupeConfig/],
  ['an unknown option', 'export default { tolls: [] };', /tolls: not an option/],
  [
    'a missing model',
    "export default { agents: [{ id: 'a', model_id: 'none' }] };",
    /agent 'a' references missing model 'none'/,
  ],
];

t.test('continues with the previous code while the edited code is invalid', async (t) => {
  const watched = await startWatching(t);
  const { service } = watched;
  const reports = async (message: RegExp): Promise<void> => {
    while (!message.test(service.errors())) {
      if (service.child.exitCode !== null) throw new Error(`it ended: ${service.errors()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  for (const [what, text, message] of BROKEN) {
    await t.test(what, async (t) => {
      watched.write('troupe.config.ts', text);
      await reports(new RegExp(`not reloaded: .*${message.source}`));
      t.equal(await answer(watched), 'first');
    });
  }
  t.equal(reloads(watched), 0);
  watched.write('troupe.config.ts', config('polly').replace('./lib/answers.ts', './more/answers.ts'));
  await reports(/Cannot find module '\.\/more\/answers\.ts'/);
  mkdirSync(join(watched.folder, 'more'));
  watched.write('more/answers.ts', answers('third'));
  watched.write('troupe.config.ts', `${config('polly').replace('./lib/answers.ts', './more/answers.ts')}\n`);
  await reloaded(watched, 1);
  t.equal(await answer(watched), 'third');
  rmSync(join(watched.folder, 'more'), { recursive: true });
  await reports(
    /Cannot find module '\.\/more\/answers\.ts'[\s\S]*Cannot find module '\.\/more\/answers\.ts'/,
  );
  t.equal(await answer(watched), 'third');
});

t.test('resumes executing runs, and ends with the last of many edits', async (t) => {
  const watched = await startWatching(t);
  const slow = (edit: string): string => `
export const answers = async (_: unknown, sink: { text(text: string): void }, { signal }: { signal: AbortSignal }) => {
  sink.text('begun ${edit}');
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
};
`;
  watched.write('lib/answers.ts', slow('first'));
  await reloaded(watched, 1);
  await send(`${watched.url}/v1/runs`, runOf('polly', 'kept'), /begun/);
  const file = join(watched.folder, 'lib/answers.ts');
  // On a busy host the service may reload between two edits.
  for (let edit = 0; edit < 19; edit += 1) writeFileSync(file, slow(`edit ${edit}`));
  writeFileSync(file, answers('edit 19'));
  const messages = (): Promise<string> => send(`${watched.url}/v1/threads/kept/messages`).catch(() => '');
  while (!(await messages()).includes('edit 19')) await new Promise((resolve) => setTimeout(resolve, 20));
});

t.test('requires a config file', async (t) => {
  const service = runCommand(t, ['dev', '--watch']);
  t.equal(await service.ended(), 1);
  t.equal(service.errors(), 'troupe: --watch requires --config <path>\n');
});
