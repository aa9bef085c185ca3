import t from 'tap';
import { ADMIN_TOKEN, startTroupe } from '../troupe.ts';
import { ADMIN, DATASETS, fixture, full, startDatasets } from './stored.ts';

/** Datasets over HTTP: evals-and-traces.md 4, checks 1 to 14. */

t.test('reads a created dataset back, and lists it without its fixtures', async (t) => {
  const { ask, make, dataset } = await startDatasets(t);
  const expect = { final_answer_contains: ['hello'], tool_sequence: [] };
  const made = await make('D', { description: '', fixtures: [fixture('f', { expect })] });
  t.strictSame(made.spec, { fixtures: [full('f', { expect: { final_answer_contains: ['hello'] } })] });
  t.match(made.meta, { revision: 0, source: { kind: 'user' }, hidden: false, created_at: Number });
  t.strictSame(await dataset('D'), made);
  t.strictSame((await ask('GET', '')).body, {
    datasets: [{ id: 'D', description: '', fixture_count: 1, revision: 0 }],
  });
});

t.test('rejects a duplicate dataset id', async (t) => {
  const { ask, make, dataset } = await startDatasets(t);
  await make('D', { description: 'first' });
  const again = await ask('POST', '', { id: 'D', spec: {} });
  t.match(again, { status: 409, body: { error: /eval_datasets\/D/ } });
  t.equal((await dataset('D')).spec.description, 'first');
});

t.test('takes the required id from the query, or else from the body', async (t) => {
  const { ask } = await startDatasets(t);
  const without = await ask('POST', '', { spec: {} });
  t.match(without, { status: 400, body: { error: 'dataset id is required' } });
  t.equal((await ask('POST', '?id=Q', { id: 'B', spec: {} })).status, 201);
  t.equal((await ask('GET', '/Q')).status, 200);
  t.match(await ask('GET', '/B'), { status: 404, body: { error: 'dataset not found: B' } });
  t.equal((await ask('POST', '?id=R', { spec: {} })).status, 201);
  t.equal((await ask('POST', '', { id: null, spec: {} })).status, 400);
});

t.test('rejects ids that are ambiguous in a path, and the id of online evals', async (t) => {
  const { ask } = await startDatasets(t);
  for (const id of ['', '  ', 'a/b', 'a\\b', '..', 'a..b', 'a\0', 'a\nb', '_adhoc', 'x'.repeat(513)]) {
    t.equal((await ask('POST', '', { id, spec: {} })).status, 400, JSON.stringify(id));
  }
  const put = await ask('PUT', '/a%2Fb', { spec: {}, expected_revision: 0 });
  t.equal(put.status, 400);
  t.strictSame((await ask('GET', '')).body, { datasets: [] });
  t.equal((await ask('POST', '', { id: 'ä b.c-1', spec: {} })).status, 201);
  t.equal((await ask('GET', '/%C3%A4%20b.c-1')).status, 200);
});

t.test('rejects unknown fields of envelopes, and ignores them in the content', async (t) => {
  const { ask, dataset } = await startDatasets(t);
  t.equal((await ask('POST', '', { id: 'D', spec: {}, more: 1 })).status, 422);
  const spec = { more: 1, fixtures: [fixture('f', { more: 1, expect: { more: 1 } })] };
  t.equal((await ask('POST', '', { id: 'D', spec })).status, 201);
  t.strictSame((await dataset('D')).spec, { fixtures: [full('f')] });
});

t.test('requires a dataset in a body of type JSON', async (t) => {
  const { ask, troupe } = await startDatasets(t);
  const untyped = await fetch(troupe.url + DATASETS, {
    method: 'POST',
    headers: ADMIN,
    body: new Blob(['{"id":"D","spec":{}}']),
  });
  t.equal(untyped.status, 415);
  t.equal((await ask('POST', '', '{')).status, 400);
  t.equal((await ask('POST', '', { id: 'D' })).status, 422);
  t.equal((await ask('POST', '', { id: 'D', spec: { fixtures: [{ id: 'f' }] } })).status, 422);
  t.equal((await ask('PUT', '/D', { spec: {}, expected_revision: -1 })).status, 422);
  t.equal((await ask('PUT', '/D', { spec: {}, expected_revision: '1' })).status, 422);
  t.equal((await ask('POST', '?idd=D', { spec: {} })).status, 400);
});

t.test('limits the body of eval requests by its own setting', async (t) => {
  const { ask } = await startDatasets(t, { settings: { eval_body_limit_bytes: 5000 } });
  const description = 'x'.repeat(6000);
  t.equal((await ask('POST', '', { id: 'D', spec: { description } })).status, 413);
  t.equal((await ask('POST', '', { id: 'D', spec: { description: 'x' } })).status, 201);
  const large = fixture('f', { user_input: description });
  t.equal((await ask('POST', '/D/fixtures', { fixture: large, expected_revision: 0 })).status, 413);
});

t.test('rejects duplicate fixture ids in a dataset', async (t) => {
  const { ask, make, dataset } = await startDatasets(t);
  const spec = { fixtures: [fixture('f'), fixture('g'), fixture('f')] };
  const refused = { status: 400, body: { error: /duplicate fixture id/ } };
  t.match(await ask('POST', '', { id: 'D', spec }), refused);
  await make('D');
  t.match(await ask('PUT', '/D', { spec }), refused);
  t.equal((await dataset('D')).meta.revision, 0);
  t.match(
    await ask('PUT', '/none', { spec }),
    refused,
    'the spec is checked before the dataset is looked up',
  );
});

t.test('rejects a judge score outside its range', async (t) => {
  const { ask, make } = await startDatasets(t);
  await make('D');
  const refused = { status: 400, body: { error: /min_judge_score.*\[0\.0, 1\.0\]/ } };
  for (const min_judge_score of [1.5, -0.2]) {
    const bad = fixture('f', { expect: { min_judge_score } });
    t.match(await ask('POST', '', { id: 'E', spec: { fixtures: [bad] } }), refused);
    t.match(await ask('PUT', '/D', { spec: { fixtures: [bad] } }), refused);
    t.match(await ask('POST', '/none/fixtures', { fixture: bad, expected_revision: 9 }), refused);
  }
  for (const min_judge_score of [0, 1]) {
    const good = fixture(`f${min_judge_score}`, { expect: { min_judge_score } });
    t.equal((await ask('PUT', '/D', { spec: { fixtures: [good] } })).status, 200);
  }
});

t.test('replaces a dataset under the expected revision, or under any', async (t) => {
  const { ask, make, dataset } = await startDatasets(t);
  const { meta } = await make('D', { description: 'first', fixtures: [fixture('f'), fixture('g')] });
  const change = { spec: { fixtures: [fixture('h')] }, expected_revision: 0 };
  const changed = await ask('PUT', '/D', change);
  t.match(changed, { status: 200, body: { meta: { revision: 1, created_at: meta.created_at } } });
  t.match(await ask('PUT', '/D', change), {
    status: 409,
    body: { error: 'revision conflict: expected 0, actual 1' },
  });
  t.strictSame(
    (await dataset('D')).spec,
    { fixtures: [full('h')] },
    'the new spec replaces the old one whole',
  );
  t.match(await ask('PUT', '/D', { spec: {} }), { status: 200, body: { meta: { revision: 2 } } });
});

t.test('creates a missing dataset on PUT if revision 0 is expected', async (t) => {
  const { ask, dataset } = await startDatasets(t);
  const made = await ask('PUT', '/D', { spec: { description: 'x' }, expected_revision: 0 });
  t.match(made, { status: 200, body: { spec: { description: 'x' }, meta: { revision: 1 } } });
  t.equal((await dataset('D')).meta.revision, 1);
  t.equal((await ask('PUT', '/E', { spec: {}, expected_revision: 5 })).status, 404);
  t.equal((await ask('PUT', '/E', { spec: {} })).status, 404);
});

t.test('deletes a dataset, under the expected revision if given', async (t) => {
  const { ask, make } = await startDatasets(t);
  await make('D');
  t.equal((await ask('DELETE', '/D')).status, 204);
  t.equal((await ask('DELETE', '/D')).status, 204);
  t.equal((await ask('DELETE', '/D?expected_revision=0')).status, 204);
  t.equal((await ask('DELETE', '/D?expected_revision=1')).status, 409);
  await make('D', { fixtures: [fixture('f')] });
  await ask('PUT', '/D', { spec: { fixtures: [fixture('f')] } });
  t.equal((await ask('DELETE', '/D?expected_revision=0')).status, 409);
  t.equal((await ask('GET', '/D')).status, 200);
  t.equal((await ask('DELETE', '/D?expected_revision=1')).status, 204);
  t.equal((await ask('GET', '/D')).status, 404);
  t.equal((await ask('DELETE', '/D?revision=1')).status, 400);
  t.equal((await ask('DELETE', '/D?expected_revision=x')).status, 400);
  await make('D');
  const appended = await ask('POST', '/D/fixtures', { fixture: fixture('f'), expected_revision: 0 });
  t.equal(appended.status, 201, 'a new dataset with the same id starts empty');
});

t.test('appends a fixture once, under the expected revision', async (t) => {
  const { ask, make, dataset } = await startDatasets(t);
  await make('D', { fixtures: [fixture('z')] });
  const add = (id: string, expected_revision: number, to = 'D') =>
    ask('POST', `/${to}/fixtures`, { fixture: fixture(id), expected_revision });
  t.match(await add('a', 0), { status: 201, body: { spec: { fixtures: [{ id: 'z' }, { id: 'a' }] } } });
  t.match(await add('m', 1), { status: 201, body: { meta: { revision: 2 } } });
  t.match(await add('a', 1), { status: 409, body: { error: 'revision conflict: expected 1, actual 2' } });
  t.match(await add('a', 2), { status: 409, body: { error: /already has fixture/ } });
  t.equal((await add('a', 0, 'none')).status, 404);
  const { spec, meta } = await dataset('D');
  t.strictSame(
    spec.fixtures?.map(({ id }) => id),
    ['z', 'a', 'm'],
  );
  t.equal(meta.revision, 2);
  t.equal((await ask('POST', '/D/fixtures', { fixture: fixture('n') })).status, 422);
});

t.test('appends one of two concurrent fixtures with the same expected revision', async (t) => {
  const { ask, make, dataset } = await startDatasets(t);
  for (let round = 0; round < 10; round += 1) {
    const id = `D${round}`;
    await make(id);
    const add = (name: string) =>
      ask('POST', `/${id}/fixtures`, { fixture: fixture(name), expected_revision: 0 });
    const statuses = (await Promise.all([add('a'), add('b')])).map(({ status }) => status);
    t.strictSame(statuses.sort(), [201, 409]);
    t.match((await dataset(id)).spec.fixtures, { length: 1 });
  }
});

t.test('omits empty fields of a spec', async (t) => {
  const { make } = await startDatasets(t);
  t.strictSame((await make('D')).spec, {});
  t.strictSame((await make('E', { description: '', fixtures: [] })).spec, {});
  t.strictSame((await make('F', { description: null, fixtures: null })).spec, {});
});

t.test('requires the admin token before validating the request', async (t) => {
  const { troupe } = await startDatasets(t);
  t.equal((await troupe.call('POST', DATASETS, '{')).status, 401);
  t.equal((await troupe.call('GET', `${DATASETS}?foo=1`)).status, 401);
  t.match((await troupe.call('GET', DATASETS)).body, { error: String });
});

t.test('lists datasets by id, in pages on request', async (t) => {
  const { ask, make } = await startDatasets(t);
  for (const id of ['b', 'B', 'ä', 'a', 'a-1']) await make(id);
  const idsOf = async (query: string): Promise<unknown> => {
    const { datasets } = (await ask('GET', query)).body;
    return Array.isArray(datasets) ? datasets.map(({ id }) => id) : undefined;
  };
  t.strictSame(await idsOf(''), ['B', 'a', 'a-1', 'b', 'ä']);
  t.strictSame(await idsOf('?offset=1&limit=2'), ['a', 'a-1']);
  t.strictSame(await idsOf('?limit=0'), ['B'], 'clamped');
  t.strictSame(await idsOf('?offset=9'), []);
  for (const query of ['?foo=1', '?limit=x', '?offset=-1', '?limit=1&limit=2'])
    t.equal((await ask('GET', query)).status, 400, query);
});

t.test('serves datasets only when evals are exposed, and lists the module', async (t) => {
  const hidden = await startTroupe(t, {
    settings: { AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_eval_routes: false } },
  });
  t.equal((await hidden.admin('GET', DATASETS)).status, 404);
  t.notMatch(JSON.stringify((await hidden.admin('GET', '/v1/system/modules')).body), '"eval"');
});

t.test('does not treat datasets as configuration entries or audit them', async (t) => {
  const { troupe, make } = await startDatasets(t);
  await make('D');
  t.equal((await troupe.admin('GET', '/v1/config/eval_datasets')).status, 404);
  t.notMatch(JSON.stringify((await troupe.admin('GET', '/v1/audit-log')).body), 'eval_datasets');
  t.match(JSON.stringify((await troupe.admin('GET', '/v1/system/modules')).body), '"events","eval"]');
});
