import t from 'tap';
import { createTroupe } from '../../src/index.ts';
import { ModelError } from '../../src/models/errors.ts';
import { ActorList } from '../../src/schema/live-actor.ts';
import { CONFIG, RUNS, SECRET, says, startAssistant, user } from '../assistant/chat.ts';
import { chunksOf } from '../protocols/ai-sdk/client.ts';
import { hangs } from './models.ts';
import { ADMIN_TOKEN, clientOf, eventually } from './troupe.ts';

/** Settings and runs of the admin assistant (config.md 11). */

const NO_MODEL = {
  status: 409,
  body: { error: 'configure and publish the first model before using the admin assistant' },
};

t.test('reads and saves the settings under their revision', async (t) => {
  const { answer, audited } = await startAssistant(t);
  t.strictSame(await answer('GET', CONFIG), {
    status: 200,
    body: { id: 'default', policy_prompt: '', revision: 0 },
  });
  const saved = { id: 'default', policy_prompt: 'Be kind.', model_id: 'steps', revision: 1 };
  const save = { id: 'x', policy_prompt: ' Be kind. ', model_id: 'steps', revision: 0, unknown: true };
  t.strictSame(await answer('PUT', CONFIG, save), { status: 200, body: saved });
  t.strictSame(await answer('GET', CONFIG), { status: 200, body: saved });
  t.match(await answer('PUT', CONFIG, save), {
    status: 409,
    body: { error: /was modified by another writer \(expected revision 0, found 1\); retry the mutation$/ },
  });
  t.match(await audited('admin-assistant/default'), {
    items: [{ action: 'create', actor: /^[0-9a-f]{16}$/, after: saved }],
  });
});

t.test('rejects invalid settings', async (t) => {
  const { answer } = await startAssistant(t);
  const status = async (body: unknown) => (await answer('PUT', CONFIG, body)).status;
  t.equal(await status({ policy_prompt: '' }), 422);
  t.equal(await status({ id: 'default', policy_prompt: 5 }), 422);
  t.equal(await status({ id: 'default', model_id: 'nope' }), 400);
  t.match(await answer('PUT', CONFIG, { id: 'default', model_id: 'default' }), {
    status: 400,
    body: { error: "model_id 'default' is not a provider-backed admin assistant model" },
  });
  t.equal(await status({ id: 'default', policy_prompt: 'x'.repeat(8193) }), 400);
  t.match(await answer('GET', CONFIG), { body: { revision: 0 } });
});

t.test('requires the admin token on every route before it reads the body', async (t) => {
  const { answer, requests } = await startAssistant(t);
  for (const [method, path] of [
    ['GET', CONFIG],
    ['PUT', CONFIG],
    ['POST', RUNS],
  ] as const) {
    const body = method === 'GET' ? undefined : 'not json';
    t.match(await answer(method, path, body, { authorization: 'Bearer wrong' }), { status: 401 }, path);
  }
  t.equal(requests.length, 0);
});

t.test('registers its routes only where the configuration routes are exposed', async (t) => {
  const { answer } = await startAssistant(t, {
    settings: { AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_config_routes: false } },
  });
  t.equal((await answer('GET', CONFIG)).status, 404);
  t.equal((await answer('POST', RUNS, { messages: [user('hi')] })).status, 404);
});

t.test('streams a run in the chat protocol and stores nothing of it', async (t) => {
  const { send, answer, steps, requests } = await startAssistant(t);
  steps.push(says('hello'));
  const body = { messages: [user('hi')], threadId: 'T', agentId: 'ignored' };
  const response = await send('POST', RUNS, body);
  t.equal(response.status, 200);
  t.equal(response.headers.get('content-type'), 'text/event-stream');
  t.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
  t.equal(response.headers.get('cache-control'), 'no-store');
  const chunks = await chunksOf(framesOf(await response.text()));
  t.match(chunks.at(0), { type: 'start' });
  t.match(chunks.at(1), { type: 'data-run-info', data: { threadId: 'T' } });
  t.match(chunks.at(-1), { type: 'finish', finishReason: 'stop' });
  t.strictSame(
    requests[0]?.tools.map(({ id }) => id),
    [
      'admin_get_platform_capabilities',
      'admin_create_agent_draft',
      'admin_validate_agent',
      'admin_create_agent',
    ],
  );
  t.match(await answer('GET', '/v1/runs'), { body: { items: [], total: 0 } });
  t.match(await answer('GET', '/v1/threads'), { body: { items: [], total: 0 } });
  t.equal((await answer('GET', '/v1/threads/T')).status, 404);
});

t.test('lists a run among the live actors while it executes', async (t) => {
  const { send, answer, steps } = await startAssistant(t);
  steps.push(hangs('partial'));
  const response = await send('POST', RUNS, { messages: [user('hi')] });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('partial')) text += (await reader?.read())?.value ?? '';
  const run_id = /"runId":"([^"]+)"/.exec(text)?.[1];
  const actors = async () => ActorList.parse((await answer('GET', '/v1/system/actors')).body);
  t.match(await actors(), {
    items: [{ id: `run:${run_id}`, machine: 'run', state: 'running.inferring' }],
  });
  await reader?.cancel();
  t.match(await eventually(actors, ({ total }) => total === 0), { items: [] });
});

t.test('appends the policy prompt to the built-in system prompt', async (t) => {
  const { answer, chat, requests } = await startAssistant(t);
  await chat([user('hi')]);
  const own = requests[0]?.system.join('\n') ?? '';
  t.match(own, /admin assistant/);
  await answer('PUT', CONFIG, { id: 'default', policy_prompt: 'Names begin with x.' });
  await chat([user('hi')]);
  const both = requests[1]?.system.join('\n') ?? '';
  t.ok(both.startsWith(own));
  t.match(both, /<preferences>\nNames begin with x\.\n<\/preferences>/);
});

t.test('rejects a request with neither a message nor a decision', async (t) => {
  const { answer, requests } = await startAssistant(t);
  const nothing = { status: 400, body: { error: 'no preview messages or interaction responses' } };
  t.strictSame(await answer('POST', RUNS, {}), nothing);
  t.strictSame(await answer('POST', RUNS, { messages: [{ role: 'user', parts: [] }] }), nothing);
  t.equal((await answer('POST', RUNS, { messages: null })).status, 422);
  t.equal((await answer('POST', RUNS, '{')).status, 400);
  t.equal((await answer('POST', RUNS, {}, { 'content-type': 'text/plain' })).status, 415);
  t.equal(requests.length, 0);
});

t.test('is disabled when all models are scripted', async (t) => {
  const troupe = await createTroupe({
    settings: {
      http_addr: '127.0.0.1:0',
      storage_dir: t.testdir(),
      AdminApiConfig: { bearer_token: ADMIN_TOKEN },
    },
  });
  t.teardown(() => troupe.stop());
  const client = clientOf(() => troupe.url);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  t.match(await client.admin('GET', '/v1/capabilities'), {
    body: { admin_assistant: { enabled: false, status: 'disabled', model_id: null } },
  });
  t.match(await client.call('POST', RUNS, { messages: [user('hi')] }, headers), NO_MODEL);
  t.match(await client.call('POST', RUNS, {}, headers), NO_MODEL);
});

t.test('is disabled when its configured model is deleted, even if other models exist', async (t) => {
  const { answer } = await startAssistant(t);
  const own = { id: 'own', provider_id: 'test', upstream_model: 'm' };
  t.equal((await answer('POST', '/v1/config/models', own)).status, 201);
  t.equal((await answer('PUT', CONFIG, { id: 'default', model_id: 'own' })).status, 200);
  t.match(await answer('GET', '/v1/capabilities'), { body: { admin_assistant: { model_id: 'own' } } });
  t.equal((await answer('DELETE', '/v1/config/models/own')).status, 204);
  t.match(await answer('GET', '/v1/capabilities'), {
    body: { admin_assistant: { enabled: false, model_id: null, config: { model_id: 'own' } } },
  });
  t.match(await answer('POST', RUNS, { messages: [user('hi')] }), NO_MODEL);
});

t.test('limits attachments, and accepts larger bodies with attachments than without', async (t) => {
  const { answer, send } = await startAssistant(t);
  const file = (size: number, mediaType = 'text/plain') => ({
    type: 'file',
    mediaType,
    url: `data:${mediaType};base64,${Buffer.alloc(size, 'x').toString('base64')}`,
  });
  const body = (...parts: object[]) => ({ messages: [{ role: 'user', parts }] });
  const large = await send('POST', RUNS, body(file(3_000_000)));
  t.equal(large.status, 200);
  await large.text();
  t.equal((await answer('POST', RUNS, body(file(9_600_000)))).status, 413);
  t.match(await answer('POST', RUNS, body(file(8_388_609))), {
    status: 400,
    body: { error: 'attachments are limited to 8388608 bytes per request' },
  });
  t.match(await answer('POST', RUNS, body(...Array.from({ length: 5 }, () => file(1)))), {
    status: 400,
    body: { error: /limited to 4 files/ },
  });
  t.match(await answer('POST', RUNS, body(file(1, 'application/zip'))), { status: 400 });
  t.match(await answer('POST', RUNS, body({ ...file(1), url: 'https://x.test/a.txt' })), { status: 400 });
});

t.test('reports a failure as an error frame without secrets', async (t) => {
  const { steps, send } = await startAssistant(t);
  steps.push(() => {
    throw new ModelError('unauthorized', `the key ${SECRET} is wrong`);
  });
  const response = await send('POST', RUNS, { messages: [user('hi')] });
  t.equal(response.status, 200);
  const text = await response.text();
  const chunks = await chunksOf(framesOf(text));
  t.match(
    chunks.find(({ type }) => type === 'error'),
    { errorText: /^admin assistant run failed: .*the key \*\*\* is wrong/ },
  );
  t.notMatch(text, SECRET);
});

t.test('aborts a run when its client disconnects', async (t) => {
  const { steps, send } = await startAssistant(t);
  let ended: () => void = () => {};
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  steps.push((sink, request, signal) => {
    signal.addEventListener('abort', ended);
    return hangs('partial')(sink, request, signal);
  });
  const response = await send('POST', RUNS, { messages: [user('hi')] });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('partial')) text += (await reader?.read())?.value ?? '';
  await reader?.cancel();
  await end;
  t.pass('the inference was aborted');
});

t.test('sends heartbeats while a run is idle', async (t) => {
  const { steps, send } = await startAssistant(t, { settings: { sse_heartbeat_ms: 15 } });
  steps.push(hangs());
  const response = await send('POST', RUNS, { messages: [user('hi')] });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes(': heartbeat\n\n')) text += (await reader?.read())?.value ?? '';
  await reader?.cancel();
  t.match(text, /: heartbeat/);
});

/** Removes SSE comments. */
const framesOf = (text: string): string => text.replaceAll(/^:.*\n\n/gm, '');
