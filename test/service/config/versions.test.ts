import t, { type Test } from 'tap';
import type { Provider } from '../../../src/models/model.ts';
import { ADMIN_TOKEN } from '../troupe.ts';
import { withUsers } from '../users.ts';
import { listOf } from './plane.ts';

/** Addresses of agents: published versions and drafts (config.md 8.1). */

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** A model that answers with its system prompt; `upstream` of the model precedes it. */
const prompting: Provider = {
  id: 'test',
  model: ({ id, upstream_model }) => ({
    id,
    provider: 'test',
    upstream: upstream_model,
    async stream({ system }, sink) {
      sink.text(`${upstream_model}: ${system[0]}`);
      return { stop: 'EndTurn' };
    },
  }),
};

const agent = (system_prompt: string, more: object = {}) => ({
  id: 'support',
  model_id: 'main',
  system_prompt,
  max_rounds: 1,
  ...more,
});

const start = async (t: Test) => {
  const troupe = await withUsers(t, { app: { providers: [prompting] } });
  const config = async (method: string, path: string, body?: object) =>
    troupe.call(method, `/v1/config${path}`, body, admin);
  const model = (upstream_model: string) =>
    config('PUT', '/models/main', { id: 'main', provider_id: 'test', upstream_model });
  const save = (prompt: string, more: object = {}) => config('PUT', '/agents/support', agent(prompt, more));
  const run = async (agentId: string, head: Record<string, string> = admin) => {
    const stream = await troupe.call('POST', '/v1/chat/completions', chat(agentId), head);
    const run_id = stream.headers.get('x-troupe-run-id');
    const record =
      run_id === null ? undefined : await troupe.call('GET', `/v1/runs/${run_id}`, undefined, head);
    return { status: stream.status, text: textOf(stream.body), body: stream.body, run: record?.body };
  };
  await model('old');
  return { troupe, config, model, save, run };
};

const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'hi' }] });

const textOf = ({ choices }: Record<string, unknown>): unknown =>
  listOf(choices).map(({ message }) => (message as { content: string }).content)[0];

const natively = (agent_id: string) => ({ agent_id, messages: [{ role: 'user', content: 'hi' }] });

t.test('numbers publications, and runs each version with the models of now (check 77)', async (t) => {
  const { troupe, config, model, save, run } = await start(t);
  for (const prompt of ['one', 'two', 'three']) await save(prompt);
  const { status, body } = await config('GET', '/agents/support/versions');
  t.equal(status, 200);
  t.match(body, [
    { version: 3, current: true, hash: /^sha256:/, actor: String },
    { version: 2, current: false, published_at: Number },
    { version: 1, current: false },
  ]);
  t.match((await config('GET', '/agents/support/versions?limit=1&before=3')).body, [{ version: 2 }]);
  t.match((await config('GET', '/agents/support/versions/2')).body, { id: 'support', system_prompt: 'two' });
  t.strictSame((await config('GET', '/agents/support/versions/diff?from=1&to=3')).body, [
    { op: 'replace', path: '/backend/config/system_prompt', value: 'three' },
    { op: 'replace', path: '/system_prompt', value: 'three' },
  ]);
  await model('new');
  t.match(await run('support'), { text: 'new: three', run: { agent_version: 3 } });
  const first = await run('support@1');
  t.match(first, {
    text: 'new: one',
    run: { agent_id: 'support', agent_version: 1 },
    body: { model: 'support@1' },
  });
  t.equal(
    (await run('support@1')).run?.resolution_id,
    first.run?.resolution_id,
    'the version is published once',
  );
  t.match(await run('support@3'), { text: 'new: three', run: { agent_version: 3 } });
  const events = await troupe.call('POST', '/v1/runs', natively('support@2'), admin);
  t.equal(events.status, 200);
  const { items } = (await troupe.call('GET', '/v1/runs', undefined, admin)).body;
  t.match(listOf(items).at(-1), { final_output: 'new: two', agent_id: 'support' });
  await troupe.restart();
  t.match(await run('support@1'), { text: 'new: one', run: { agent_version: 1 } });
  await save('four');
  t.match((await config('GET', '/agents/support/versions?limit=1')).body, [{ version: 4 }]);
});

t.test('reports unknown versions, and prefers an agent with that id (check 78)', async (t) => {
  const { troupe, config, save, run } = await start(t);
  await save('one');
  for (const name of ['support@99', 'support@0', 'support@draft', 'nobody@1', 'support@1@1']) {
    const { status, body } = await troupe.call('POST', '/v1/runs', natively(name), admin);
    t.equal(status, 400);
    t.equal(body.error, `agent not found: ${name}`);
    t.match(await run(name), { status: 404, body: { error: { code: 'model_not_found', param: 'model' } } });
  }
  t.equal((await config('GET', '/agents/support/versions/99')).status, 404);
  t.equal((await config('GET', '/agents/support/versions/diff?from=1&to=99')).status, 404);
  t.equal((await config('GET', '/agents/nobody/versions')).status, 404);
  await config('PUT', '/agents/support%401', { ...agent('literal'), id: 'support@1' });
  t.match(await run('support@1'), { text: 'old: literal', run: { agent_id: 'support@1' } });
  await save('two');
  await config('DELETE', '/agents/support');
  t.match(await run('support@2'), { status: 404 }, 'a deleted agent has no addresses');
});

t.test('keeps drafts from runs but those of its authors, until it is published (check 79)', async (t) => {
  const { troupe, config, save, run } = await start(t);
  const member = troupe.user('alice').head;
  const author = troupe.user('bob', 'member', 'configure:agents').head;
  await save('one');
  t.equal((await config('GET', '/agents/support/draft')).status, 404);
  t.match(await config('PUT', '/agents/support/draft', agent('draft')), {
    status: 200,
    body: { system_prompt: 'draft' },
  });
  t.match(await run('support'), { text: 'old: one' });
  t.match(await run('support@draft', member), { status: 404 });
  t.match(await run('support@draft', author), { text: 'old: draft' });
  t.match((await config('GET', '/agents/support/versions')).body, [{ version: 1 }]);
  t.match(await run('support@2'), { status: 404 }, 'a draft is no published version');
  const { body: models } = await troupe.call('GET', '/v1/models', undefined, admin);
  t.notOk(listOf(models.data).some(({ id }) => String(id).includes('@')));
  await troupe.restart();
  t.match(await config('GET', '/agents/support/draft'), { body: { system_prompt: 'draft' } });
  const published = await config('POST', '/agents/support/draft/publish');
  t.match(published, { status: 200, body: { system_prompt: 'draft' } });
  t.match(await run('support'), { text: 'old: draft', run: { agent_version: 2 } });
  t.match((await config('GET', '/agents/support/versions')).body, [
    { version: 2, current: true },
    { version: 1 },
  ]);
  t.equal((await config('GET', '/agents/support/draft')).status, 404);
  t.equal((await config('POST', '/agents/support/draft/publish')).status, 404);
  const { items } = (await troupe.call('GET', '/v1/audit-log?resource=agents/support', undefined, admin))
    .body;
  t.match(
    listOf(items).map(({ action }) => action),
    ['publish', 'create', 'update'],
  );
});

t.test('checks a draft like a save, and removes it with its agent (check 79)', async (t) => {
  const { config, save, troupe } = await start(t);
  await save('one');
  t.equal((await config('PUT', '/agents/support/draft', { ...agent('x'), model_id: 'none' })).status, 400);
  t.equal((await config('PUT', '/agents/support/draft', { ...agent('x'), id: 'other' })).status, 400);
  const viewer = troupe.user('carol', 'observe').head;
  t.equal((await troupe.call('PUT', '/v1/config/agents/support/draft', agent('x'), viewer)).status, 403);
  t.equal((await troupe.call('GET', '/v1/config/agents/support/draft', undefined, viewer)).status, 404);
  await config('PUT', '/agents/support/draft', agent('x'));
  t.equal((await config('DELETE', '/agents/support/draft')).status, 204);
  t.equal((await config('DELETE', '/agents/support/draft')).status, 404);
  await config('PUT', '/agents/support/draft', agent('x'));
  await config('DELETE', '/agents/support');
  t.equal((await config('GET', '/agents/support/draft')).status, 404);
});

t.test('restores an agent by the number of a version', async (t) => {
  const { config, save } = await start(t);
  await save('one');
  await save('two');
  const restored = await config('POST', '/agents/support/restore', { version: 1 });
  t.match(restored, { status: 200, body: { system_prompt: 'one' } });
  t.equal((await config('POST', '/agents/support/restore', { version: 9 })).status, 404);
  t.equal((await config('POST', '/models/main/restore', { version: 1 })).status, 422);
});
