import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { ProviderSpec } from '../../src/schema/model.ts';
import { CONTAINER_TOKEN, startServices } from './aws/services.ts';
import { signatureOf } from './aws/signature.ts';
import { createProvider } from './create-provider.ts';
import { infer, inferenceFailure, joined, requestOf } from './infer.ts';
import { startSseServer } from './sse-server.ts';
import { frame } from './transport/frames.ts';
import { problemsOfConverse } from './wire/strict-bedrock.ts';

/** Amazon Bedrock over real sockets. The simulated service recomputes the signature of each request. */

const KEYS = { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const UPSTREAM = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

const refuse = (response: ServerResponse, status: number, type: string, message: string): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type });
  response.end(JSON.stringify({ message }));
};

const FRAMES = [
  frame('messageStart', { role: 'assistant' }),
  frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi' } }),
  frame('contentBlockStop', { contentBlockIndex: 0 }),
  frame('messageStop', { stopReason: 'end_turn' }),
  frame('metadata', { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } }),
];

const stream = (response: ServerResponse, frames: readonly Buffer[]): void => {
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
  response.end(Buffer.concat(frames));
};

type Credentials = { id: string; secret: string; token?: string };
const OWN: Credentials = { id: KEYS.access_key_id, secret: KEYS.secret_access_key };

const start = async (
  t: Test,
  {
    credentials = () => OWN,
    answer = (response: ServerResponse) => stream(response, FRAMES),
    region = 'us-east-1',
  } = {},
) => {
  const { url, requests } = await startSseServer(t, (response, request) => {
    const { id, secret, token } = credentials();
    const { authorization } = request.headers;
    if (authorization !== `Bearer ${secret}`) {
      if (request.headers['x-amz-security-token'] !== token) {
        return refuse(
          response,
          403,
          'ExpiredTokenException',
          'The security token included in the request is expired',
        );
      }
      if (authorization !== signatureOf(request, { secret, region, id, service: 'bedrock' })) {
        return refuse(response, 403, 'InvalidSignatureException', 'The signature does not match.');
      }
    }
    const [problem] = problemsOfConverse(UPSTREAM, JSON.parse(request.body));
    if (problem !== undefined) return refuse(response, 400, 'ValidationException', problem);
    answer(response);
  });
  const model = (more: Partial<ProviderSpec> = {}, env: Record<string, string> = {}) =>
    createProvider(
      {
        id: 'b',
        adapter: 'bedrock',
        base_url: url,
        adapter_options: { ...KEYS, region: 'us-east-1' },
        ...more,
      },
      env,
    ).model({ id: 'm', provider_id: 'b', upstream_model: UPSTREAM });
  return { url, requests, model };
};

t.test('signs a request, reads its frames, and never sends the secret key', async (t) => {
  const { model, requests } = await start(t);
  const { heard, end } = await infer(model(), requestOf('Hi'));
  t.equal(joined(heard, 'text'), 'Hi');
  t.strictSame(end, {
    stop: 'EndTurn',
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  });
  t.equal(requests[0]?.url, '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream');
  t.notMatch(JSON.stringify(requests), KEYS.secret_access_key);
});

t.test('signs the session token, and the region of another host', async (t) => {
  const region = 'eu-central-1';
  const { model } = await start(t, { credentials: () => ({ ...OWN, token: 'session' }), region });
  const adapter_options = { ...KEYS, region, session_token: 'session' };
  await infer(model({ adapter_options }), requestOf('Hi'));
});

t.test('uses keys from the environment if the spec allows it', async (t) => {
  const { model, url } = await start(t, { credentials: () => ({ ...OWN, token: 'session' }) });
  const env = {
    AWS_ACCESS_KEY_ID: KEYS.access_key_id,
    AWS_SECRET_ACCESS_KEY: KEYS.secret_access_key,
    AWS_SESSION_TOKEN: 'session',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
  };
  await infer(model({ adapter_options: { allow_env_credentials: true } }, env), requestOf('Hi'));
  t.throws(() => model({ adapter_options: {} }, env), { name: 'Invalid' });
});

t.test('sends a Bedrock API key as a bearer token', async (t) => {
  const { model, requests, url } = await start(t, {
    credentials: () => ({ id: '', secret: 'bedrock-api-key' }),
  });
  await infer(model({ api_key: 'bedrock-api-key', adapter_options: {} }), requestOf('Hi'));
  const env = { AWS_BEARER_TOKEN_BEDROCK: 'bedrock-api-key', AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url };
  await infer(model({ adapter_options: { allow_env_credentials: true } }, env), requestOf('Hi'));
  t.equal(requests[0]?.headers['x-amz-date'], undefined);
  t.equal(requests[1]?.headers.authorization, 'Bearer bedrock-api-key');
});

t.test('requests container keys once for concurrent calls, and again when AWS rejects them', async (t) => {
  const services = await startServices(t);
  const { state } = services;
  let refused = 0;
  const credentials = () => {
    const number = Math.max(1, state.issued) + refused;
    return { id: `ASIA${number}`, secret: `secret-${number}`, token: `token-${number}` };
  };
  const { model, url } = await start(t, { credentials });
  const used = model(
    { adapter_options: { allow_env_credentials: true, region: 'us-east-1' } },
    {
      HOME: t.testdir({}),
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${services.url}/container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: CONTAINER_TOKEN,
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
    },
  );
  const call = () => infer(used, requestOf('Hi'));
  await Promise.all([call(), call(), call()]);
  await call();
  t.equal(state.issued, 1);
  refused = 1;
  const error = inferenceFailure(used, requestOf('Hi'));
  t.match((await error).error, { class: 'unauthorized', status: 403 });
  t.equal(state.issued, 2, 'rejected keys are replaced');
  refused = 0;
  await call();
  t.equal(state.issued, 2);
});

t.test('requests new keys shortly before the current ones expire', async (t) => {
  const services = await startServices(t);
  services.state.expires = new Date(Date.now() + 30_000).toISOString();
  const credentials = () => {
    const number = services.state.issued;
    return { id: `ASIA${number}`, secret: `secret-${number}`, token: `token-${number}` };
  };
  const { model, url } = await start(t, { credentials });
  const env = {
    HOME: t.testdir({}),
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${services.url}/container`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: CONTAINER_TOKEN,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
  };
  const used = model({ adapter_options: { allow_env_credentials: true, region: 'us-east-1' } }, env);
  await infer(used, requestOf('Hi'));
  await infer(used, requestOf('Hi'));
  t.equal(services.state.issued, 2);
});

const profileFile = (t: Test) => {
  const path = join(t.testdir(), 'credentials');
  const write = (token: string): void =>
    writeFileSync(
      path,
      `# made by a tool\n[default]\naws_access_key_id = other\n\n[work]\naws_access_key_id = ${KEYS.access_key_id}\naws_secret_access_key=${KEYS.secret_access_key}\naws_session_token = ${token}\n`,
    );
  return { path, write };
};

t.test('reads a profile again when AWS rejects its keys as expired', async (t) => {
  const { path, write } = profileFile(t);
  let token = 'old';
  const { model, requests, url } = await start(t, { credentials: () => ({ ...OWN, token }) });
  write('old');
  const env = {
    AWS_SHARED_CREDENTIALS_FILE: path,
    AWS_PROFILE: 'work',
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
  };
  const adapter_options = { allow_env_credentials: true, region: 'us-east-1' };
  const used = model({ adapter_options }, env);
  await infer(used, requestOf('Hi'));
  token = 'new';
  t.match((await inferenceFailure(used, requestOf('Hi'))).error, { class: 'unauthorized', status: 403 });
  write('new');
  await infer(used, requestOf('Hi'));
  t.equal(requests.length, 5);
});

const profiles: [profile: string, message: RegExp][] = [
  ['default', /profile 'default' needs aws_access_key_id and aws_secret_access_key, and has one of them$/],
  ['missing', /profile 'missing' is not in .*$/],
];
for (const [profile, message] of profiles) {
  t.test(`rejects profile ${profile} without quoting its file`, async (t) => {
    const { path, write } = profileFile(t);
    write('old');
    const { model, requests, url } = await start(t);
    const env = { AWS_SHARED_CREDENTIALS_FILE: path, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url };
    const adapter_options = { allow_env_credentials: true, region: 'us-east-1', profile };
    const { error } = await inferenceFailure(model({ adapter_options }, env), requestOf('Hi'));
    t.match(error, { class: 'unauthorized', message });
    t.notMatch(error.message, KEYS.secret_access_key);
    t.equal(requests.length, 0);
  });
}

const failures: [status: number, type: string, message: string, error: object][] = [
  [429, 'ThrottlingException', 'Too many requests', { class: 'rate_limited', transient: true }],
  [429, 'ModelNotReadyException', 'The model is not ready', { class: 'overloaded', transient: true }],
  [503, 'ServiceUnavailableException', 'busy', { class: 'overloaded', transient: true }],
  [408, 'ModelTimeoutException', 'late', { class: 'timeout', transient: true }],
  [424, 'ModelErrorException', 'oops', { class: 'provider', transient: true }],
  [400, 'ValidationException', 'Input is too long for requested model.', { class: 'context_overflow' }],
  [403, 'AccessDeniedException', 'not authorized to perform', { class: 'unauthorized' }],
  [404, 'ResourceNotFoundException', 'no model', { class: 'model_not_found' }],
];
for (const [status, type, message, error] of failures) {
  t.test(`reports ${type} as ${JSON.stringify(error)} without a retry`, async (t) => {
    const { model, requests } = await start(t, {
      answer: (response) => refuse(response, status, type, message),
    });
    const failure = await inferenceFailure(model(), requestOf('Hi'));
    t.match(failure.error, { ...error, detail: message, status });
    t.equal(requests.length, 1);
  });
}

t.test('reports a truncated stream as interrupted, unless the completion had ended', async (t) => {
  let frames: readonly Buffer[] = [];
  const { model } = await start(t, { answer: (response) => stream(response, frames) });
  frames = [...FRAMES.slice(0, 2), (FRAMES[2] ?? Buffer.alloc(0)).subarray(0, 20)];
  const { heard, error } = await inferenceFailure(model(), requestOf('Hi'));
  t.equal(joined(heard, 'text'), 'Hi');
  t.match(error, { class: 'stream_interrupted' });
  frames = FRAMES.slice(0, 4);
  t.equal((await infer(model(), requestOf('Hi'))).end.stop, 'EndTurn');
});
