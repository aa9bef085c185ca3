import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import t, { type Test } from 'tap';
import { startSseServer } from '../models/sse-server.ts';
import { runHere, serveHere } from './in-process.ts';

/** The host that receives each key, for each combination of variables at startup. */

const KEY = 'sk-canary-of-openai-0123456789';

type Sent = { host: string; keys: string };

/**
 * A provider on this host. TLS connections to every other host lead to it as well, without encryption, so that it
 * receives their data.
 */
const startMock = async (t: Test, isUp = () => true) => {
  const sent: Sent[] = [];
  const mock = await startSseServer(t, (response, { url, headers }) => {
    if (!isUp()) return response.destroy();
    const { host = '' } = headers;
    sent.push({ host: host === new URL(mock.url).host ? 'mock' : host, keys: JSON.stringify(headers) });
    if (url.endsWith('/models')) {
      return response.end(JSON.stringify({ data: [{ id: 'Listed-Model' }, { id: 'other' }] }));
    }
    // A 401 ends the run in every protocol, and is not retried.
    response.writeHead(401).end('{"error":{"message":"no"}}');
  });
  const { connect } = tls;
  Object.assign(tls, {
    connect: () => {
      const socket = net.connect(Number(new URL(mock.url).port), '127.0.0.1');
      socket.once('connect', () => socket.emit('secureConnect'));
      return socket;
    },
  });
  syncBuiltinESMExports();
  t.teardown(() => {
    Object.assign(tls, { connect });
    syncBuiltinESMExports();
  });
  return { ...mock, sent };
};

const runOnce = async (url: string): Promise<string> => {
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  return response.text();
};

type Env = Record<string, string>;

type Case = {
  env: Env;
  /** The host that receives the key; undefined if no key is sent. */
  host?: string;
  /** The startup line about the model. */
  model: string;
};

const AT_MOCK = 'Listed-Model at HOST (provider default)';

const CASES: Record<string, Case> = {
  'no variable': { env: {}, model: 'scripted (provider default)' },
  'a model without a key': {
    env: { AGENT_MODEL: 'deepseek-chat' },
    model: 'deepseek-chat (provider default)',
  },
  'a key': {
    env: { OPENAI_API_KEY: KEY },
    host: 'api.openai.com',
    model: 'gpt-5.6 at api.openai.com (provider default)',
  },
  ...Object.fromEntries(
    ['deepseek-chat', 'together-x', 'fireworks/y', 'claude-sonnet-4-5', 'gpt-4o'].map(
      (model): [string, Case] => [
        `a key and the model ${model}`,
        {
          env: { OPENAI_API_KEY: KEY, AGENT_MODEL: model },
          host: 'api.openai.com',
          model: `${model} at api.openai.com (provider default)`,
        },
      ],
    ),
  ),
  'a key and the adapter openai': {
    env: { OPENAI_API_KEY: KEY, OPENAI_ADAPTER: 'openai' },
    host: 'api.openai.com',
    model: 'gpt-5.6 at api.openai.com (provider default)',
  },
  'a key and the address of OpenAI': {
    env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'https://api.openai.com/v1' },
    host: 'api.openai.com',
    model: 'gpt-5.6 at api.openai.com (provider default)',
  },
  'a key and an address': {
    env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'MOCK/v1' },
    host: 'mock',
    model: AT_MOCK,
  },
  'a key, an address and a model': {
    env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'MOCK/v1', AGENT_MODEL: 'deepseek-chat' },
    host: 'mock',
    model: 'deepseek-chat at HOST (provider default)',
  },
  'a key, an address and an adapter': {
    env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'MOCK/v1', OPENAI_ADAPTER: 'groq' },
    host: 'mock',
    model: AT_MOCK,
  },
  'an address': { env: { OPENAI_BASE_URL: 'MOCK/v1' }, model: AT_MOCK },
  'keys of two companies': {
    env: { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: 'other-key-of-anthropic' },
    host: 'api.openai.com',
    model: 'gpt-5.6 at api.openai.com (provider default)',
  },
};

for (const [name, { env, host, model }] of Object.entries(CASES)) {
  for (const command of ['dev', 'serve']) {
    t.test(`${command} with ${name}: sends the key of OpenAI to ${host ?? 'no host'}`, async (t) => {
      const mock = await startMock(t);
      const given = Object.entries(env).map(([key, value]) => [key, value.replace('MOCK', mock.url)]);
      const { url, output } = await serveHere(t, [command, '--storage-dir', join(t.testdir(), 'data')], {
        ...Object.fromEntries(given),
        ...(command === 'serve' && { SERVICE_ADMIN_API_BEARER_TOKEN: 'x' }),
      });
      t.match(
        output,
        model.replace('HOST', new URL(mock.url).host),
        'the start prints provider, host and model',
      );
      t.notMatch(output, KEY);
      await runOnce(url);
      const hosts = new Set(mock.sent.filter(({ keys }) => keys.includes(KEY)).map((each) => each.host));
      t.strictSame([...hosts], host === undefined ? [] : [host]);
    });
  }
}

for (const adapter of ['deepseek', 'anthropic', 'groq', ' Gemini ']) {
  t.test(`does not start with a key of OpenAI and the adapter ${adapter} without a URL`, async (t) => {
    const { code, errors } = await runHere(
      ['serve', '--http-addr', '127.0.0.1:0', '--storage-dir', join(t.testdir(), 'data')],
      { SERVICE_ADMIN_API_BEARER_TOKEN: 'x', OPENAI_API_KEY: KEY, OPENAI_ADAPTER: adapter },
    );
    t.equal(code, 1);
    t.match(
      errors,
      /OPENAI_ADAPTER: '\w+' would send OPENAI_API_KEY to another company than OpenAI; allowed: /,
    );
    t.notMatch(errors, KEY);
  });
}

t.test('fails the first start with an unresponsive URL without a model, but no later start', async (t) => {
  const dir = join(t.testdir(), 'data');
  let up = true;
  const mock = await startMock(t, () => up);
  const args = ['serve', '--storage-dir', dir];
  const env = (url: string) => ({
    SERVICE_ADMIN_API_BEARER_TOKEN: 'x',
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: url,
  });
  const refused = await runHere([...args, '--http-addr', '127.0.0.1:0'], env('http://127.0.0.1:9/v1'));
  t.equal(refused.code, 1);
  t.match(
    refused.errors,
    /OPENAI_BASE_URL: http:\/\/127\.0\.0\.1:9\/v1\/models: no connection.*; start that server first, or set AGENT_MODEL/,
  );
  await t.test('first', async (t) => {
    t.match((await serveHere(t, args, env(`${mock.url}/v1`))).output, 'Listed-Model at');
  });
  up = false;
  await t.test('again', async (t) => {
    t.match((await serveHere(t, args, env(`${mock.url}/v1`))).output, 'Listed-Model at');
  });
});
