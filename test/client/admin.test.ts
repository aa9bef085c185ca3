import t from 'tap';
import { Conflict, createClient, InvalidRequest, NotFound, Unauthorized } from '../../src/client/index.ts';
import { traced } from '../service/traced.ts';
import { ADMIN_TOKEN, startDemo } from '../service/troupe.ts';

/** What an admin does with the client: configuration, audit, traces, evals, the service. */

const troupe = await startDemo(t, {
  settings: traced(undefined, {
    AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_trace_routes: true, expose_eval_routes: true },
  }),
});
const client = createClient({ url: troupe.url, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
const { config, audit, traces, evals, system } = client;

const collect = async <Item>(source: AsyncIterable<Item>): Promise<Item[]> => {
  const items: Item[] = [];
  for await (const item of source) items.push(item);
  return items;
};

t.test('creates, reads, changes, restores and deletes entries', async (t) => {
  const poet = { id: 'poet', model_id: 'echo', system_prompt: 'In verse.' };
  t.match(await config.validate('agents', poet), { id: 'poet', max_rounds: 16 });
  await t.rejects(config.get('agents', 'poet'), NotFound);
  t.match(await config.create('agents', poet), poet);
  await t.rejects(config.create('agents', poet), Conflict);
  await t.rejects(config.save('agents', { ...poet, model_id: 'no-such' }), InvalidRequest);
  t.match(await config.save('agents', { ...poet, max_rounds: 3 }), { max_rounds: 3 });
  t.match(await config.override('agents', 'poet', { max_rounds: 5 }), { max_rounds: 5 });
  t.match(await config.meta('agents', 'poet'), { revision: 3, user_overrides: { max_rounds: 5 } });
  t.match(await config.clearOverrides('agents', 'poet', 'max_rounds'), { max_rounds: 3 });
  await config.override('agents', 'poet', { max_rounds: 6 });
  t.match(await config.clearOverrides('agents', 'poet'), { max_rounds: 3 });
  t.ok((await config.list('agents')).some(({ id }) => id === 'poet'));
  t.equal((await config.list('agents', { limit: 1 })).length, 1);

  const changes = await collect(audit.list({ resource: 'agents/poet', limit: 2 }));
  t.strictSame(
    changes.map(({ action }) => action),
    ['update', 'update', 'update', 'update', 'update', 'apply_failed', 'create'],
  );
  t.match(await audit.list({ limit: 2 }), { items: { length: 2 }, next_cursor: String });
  t.match(await config.restore('agents', 'poet', changes.at(-1)?.id ?? ''), { max_rounds: 16 });
  await config.saveDraft({ id: 'poet', model_id: 'echo', system_prompt: 'Draft.', max_rounds: 9 });
  t.match(await config.draft('poet'), { system_prompt: 'Draft.' });
  t.match(await config.publishDraft('poet'), { max_rounds: 9 });
  await t.rejects(config.deleteDraft('poet'), { message: 'draft not found: agents/poet' });
  const [newest] = await config.versions('poet', { limit: 1 });
  const version = newest?.version ?? 0;
  t.ok(newest?.current);
  t.match(await config.version('poet', version), { system_prompt: 'Draft.' });
  t.strictSame(await config.versionDiff('poet', { from: version, to: version }), []);
  await config.delete('agents', 'poet');
  await t.rejects(config.get('agents', 'poet'), NotFound);
  t.strictSame(await config.diagnostics(), []);
});

t.test('deletes an entry that others reference if forced', async (t) => {
  await config.create('models', { id: 'own', provider_id: 'test', upstream_model: 'x' });
  await config.create('agents', { id: 'needs', model_id: 'own' });
  await t.rejects(config.delete('models', 'own'), Conflict);
  await config.delete('models', 'own', { force: true });
  t.match(await config.diagnostics(), [{ resource: { namespace: 'agents', id: 'needs' } }]);
  await config.delete('agents', 'needs');
});

t.test('lists traces, reads them in pages and keeps them', async (t) => {
  const run = client.runs.stream({ agentId: 'echo', messages: [{ role: 'user', content: 'Hello' }] });
  await run.text();
  const { run_id } = await run.ids;
  t.match(await traces.list({ agent_id: 'echo' }), [{ run_id, final_status: 'ok' }]);
  t.strictSame(await traces.list({ agent_id: 'nobody' }), []);
  const events = await collect(traces.events(run_id));
  t.match(events, [{ type: 'inference', run_id }]);
  t.strictSame(await collect(traces.events(run_id, { offset: 1 })), []);
  await traces.pin(run_id);
  await t.rejects(traces.pin('no-such'), NotFound);
});

t.test('searches traces by outcome, words and scope, page by page', async (t) => {
  for (const content of ['Where is the refund?', 'Where is the parcel?']) {
    await client.runs.stream({ agentId: 'echo', messages: [{ role: 'user', content }] }).text();
  }
  const where = { q: 'where', outcome: ['completed', 'stopped'], limit: 1 } as const;
  t.match(await collect(traces.search({ q: 'refund', agent_id: 'echo' })), [
    { agent_id: 'echo', run: { preview: 'Where is the refund?' } },
  ]);
  t.match(await traces.search(where), { runs: [{ run: { status: 'done' } }], next_cursor: String });
  t.equal((await collect(traces.search({ ...where, stored: true }))).length, 2, 'all pages have the filter');
  t.strictSame(await collect(traces.search({ outcome: ['cancelled'], stored: false })), []);
});

t.test('creates, executes, follows and compares a dataset', async (t) => {
  const { datasets, runs } = evals;
  const spec = { fixtures: [{ id: 'greets', user_input: 'Hello' }] };
  t.match(await datasets.create('small', spec), { meta: { revision: 0 } });
  t.match(await datasets.replace('small', { ...spec, description: 'one' }, 0), { meta: { revision: 1 } });
  await t.rejects(datasets.replace('small', spec, 0), Conflict);
  t.match(await datasets.get('small'), { spec: { description: 'one' } });
  t.match(await datasets.list({ limit: 5 }), [{ id: 'small', fixture_count: 1, revision: 1 }]);

  const run = await runs.start({ dataset_id: 'small', models: ['echo'] });
  const frames = await collect(runs.follow(run.id));
  t.match(frames.at(-1), { status: 'done', progress: { finished: 1 } });
  t.match(await runs.get(run.id, { baseline: run.id }), { diff: { entries: [{ kind: 'unchanged' }] } });
  t.equal((await runs.cancel(run.id)).id, run.id, 'a cancel does not change an ended run');
  const again = await runs.start({ dataset_id: 'small', models: ['echo'] });
  await collect(runs.follow(again.id));
  t.strictSame(
    (await collect(runs.list({ dataset_id: 'small', limit: 1 }))).map(({ id }) => id).sort(),
    [run.id, again.id].sort(),
  );
  await datasets.delete('small', 1);
  await t.rejects(datasets.get('small'), NotFound);
});

t.test('returns information about the service', async (t) => {
  t.match(await system.info(), { version: String, config_store_enabled: true });
  t.match(await system.runs(), { running: 0, waiting: 0 });
  t.match(await system.agents(), [{ agent_id: 'echo' }]);
  t.match(await system.agent('echo', '1h'), { agent_id: 'echo' });
  await t.rejects(system.agent('nobody'), NotFound);
  await t.rejects(createClient({ url: troupe.url }).system.info(), Unauthorized);
});
