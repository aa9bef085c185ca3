import t, { type Test } from 'tap';
import { z } from 'zod';
import { ModelError } from '../../../src/models/errors.ts';
import { giveAnswer } from '../../../src/models/scripted-answer.ts';
import type { Dataset } from '../../../src/schema/dataset.ts';
import type { SettingsInput } from '../../../src/settings/index.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { asks } from '../models.ts';
import { run, traced } from '../traced.ts';
import { eventually, startTroupe, type TroupeOptions } from '../troupe.ts';
import { ADMIN, datasetsOf, fixture, startDatasets } from './stored.ts';

/** Runs that are turned into test cases: evals-and-traces.md 4.7 to 4.9, checks 15 to 27. */

const CAPTURED = { sampling_disable: true, capture_content: true };
const expected = { final_answer_contains: ['hello'] };

const start = async (
  t: Test,
  trace: NonNullable<SettingsInput['trace']> = {},
  more: SettingsInput = {},
  app: TroupeOptions['app'] = {},
) => {
  const troupe = await startTroupe(t, { settings: traced({ ...CAPTURED, ...trace }, more), app });
  const datasets = datasetsOf(troupe);
  await datasets.make('D');
  return { ...datasets, items: (body: object, to = 'D') => datasets.ask('POST', `/${to}/items`, body) };
};

const last = ({ spec }: Dataset) => spec.fixtures?.at(-1);

t.test('turns the trace of a run into a replayable fixture', async (t) => {
  const { troupe, items, dataset } = await start(t);
  const id = await run(troupe, 'echo');
  const added = await items({ from_run_id: id, expected });
  t.equal(added.status, 201);
  t.strictSame(last(await dataset('D')), {
    id,
    description: `Curated from trace ${id}`,
    user_input: 'Hello',
    provider_script: [
      {
        kind: 'chat_response',
        content: 'echo: Hello',
        tokens: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
        finish_reason: 'EndTurn',
      },
    ],
    source_run_id: id,
    source_model_id: 'echo-upstream',
    mock_response: { kind: 'text', text: '' },
    expect: expected,
  });
  t.strictSame(added.body, JSON.parse(JSON.stringify(await dataset('D'))));
});

t.test('copies the other fields of the request to the fixture', async (t) => {
  const { troupe, items, dataset } = await start(t);
  const from_run_id = await run(troupe, 'echo');
  const told = { fixture_id: 'f', description: 'mine', user_input: 'Hi', allow_unused_provider_script: true };
  t.equal(
    (await items({ from_run_id, expect: expected, ...told })).status,
    201,
    'the request accepts the alias',
  );
  const { fixture_id, ...rest } = told;
  t.match(last(await dataset('D')), { id: fixture_id, ...rest, expect: expected });
});

t.test('requires one set of expectations, and either one trace or one dialogue', async (t) => {
  const { troupe, items, dataset } = await start(t);
  const from_run_id = await run(troupe, 'echo');
  const dialogue = { run_ids: [from_run_id] };
  for (const body of [
    { from_run_id, expected, expect: expected },
    { expected },
    { from_run_id, dialogue, expected },
    { dialogue, expected, user_input: 'x' },
    { from_run_id, expected, provider_script_mode: 'never' },
    { from_run_id, expected, more: 1 },
    { from_run_id: 5, expected },
  ]) {
    t.equal((await items(body)).status, 422, JSON.stringify(body));
  }
  const empty = { status: 400, body: { error: /at least one expectation/ } };
  t.match(await items({ from_run_id }), empty);
  t.match(await items({ from_run_id, expected: { tool_sequence_mode: 'ordered_subseq' } }), empty);
  t.match(await items({ dialogue }), empty);
  t.match(await items({ from_run_id, expected: { min_judge_score: 2 } }), {
    status: 400,
    body: { error: /min_judge_score.*\[0\.0, 1\.0\]/ },
  });
  t.equal((await dataset('D')).meta.revision, 0);
});

const look = defineTool({
  id: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  execute: ({ at }) => ({ data: { [at === 'api' ? 'api_key' : 'saw']: at } }),
});

t.test('reports, rejects or skips two calls in a turn, which cannot be replayed', async (t) => {
  const { troupe, items, dataset } = await start(t, {}, {}, { tools: [look] });
  troupe.models.steps.push(asks(['c1', 'look', { at: 'a' }], ['c2', 'look', { at: 'b' }]));
  const from_run_id = await run(troupe, 'steps');
  const ask = (fixture_id: string, provider_script_mode?: string) =>
    items({ from_run_id, fixture_id, expected, provider_script_mode });
  const reason = 'provider_script currently supports one tool call per turn';
  t.equal((await ask('default')).status, 201);
  t.match(last(await dataset('D')), { id: 'default', provider_script_error: reason });
  t.equal(last(await dataset('D'))?.provider_script, undefined);
  t.match(await ask('require', 'require'), { status: 400, body: { error: `curating trace: ${reason}` } });
  t.equal((await ask('skip', 'skip')).status, 201);
  const skipped = last(await dataset('D'));
  t.match(skipped, { provider_script_error: 'provider_script conversion skipped by request' });
  t.notOk('provider_script' in (skipped ?? {}));
});

t.test('replays a turn that speaks next to its call', async (t) => {
  const { troupe, items, dataset } = await start(t, {}, {}, { tools: [look] });
  const args = { at: 'a' };
  troupe.models.steps.push((sink) =>
    giveAnswer({ text: 'One moment.', calls: [{ id: 'c1', tool: 'look', args }] }, sink),
  );
  const from_run_id = await run(troupe, 'steps');
  const tool_sequence = ['look'];
  const mode = { provider_script_mode: 'require' };
  t.equal((await items({ from_run_id, expected: { tool_sequence }, ...mode })).status, 201);
  t.match(last(await dataset('D'))?.provider_script, [
    { kind: 'tool_call', name: 'look', arguments: args, content: 'One moment.' },
    { kind: 'chat_response' },
  ]);
  const { body } = await troupe.call('POST', '/v1/eval/runs', { dataset_id: 'D' }, ADMIN);
  t.match(Object(body.run).items, [{ report: { passed: true, inference_count: 2, tool_count: 1 } }]);
});

t.test('records tool calls and failures as script events', async (t) => {
  const { troupe, items, dataset } = await start(t, {}, {}, { tools: [look] });
  troupe.models.steps.push(asks(['c1', 'look', { at: 'a' }]));
  const called = await run(troupe, 'steps');
  await items({ from_run_id: called, expected });
  t.match(last(await dataset('D'))?.provider_script, [
    { kind: 'tool_call', id: 'c1', name: 'look', arguments: { at: 'a' }, tokens: {} },
    { kind: 'chat_response' },
  ]);
  t.equal(last(await dataset('D'))?.tool_results, undefined, 'the trace did not record them');
  troupe.models.failures.push(new ModelError('unauthorized', 'no'));
  const failed = await run(troupe, 'flaky');
  await items({ from_run_id: failed, user_input: 'x', expected });
  t.match(last(await dataset('D'))?.provider_script, [
    { kind: 'error', error_type: 'unauthorized', message: '' },
  ]);
});

t.test('records tool results that were captured completely', async (t) => {
  const large = defineTool({
    id: 'large',
    description: 'Much.',
    input: z.object({}),
    execute: () => ({ data: 'x'.repeat(20_000) }),
  });
  const failing = defineTool({
    id: 'fail',
    description: 'Fails.',
    input: z.object({}),
    execute() {
      throw new Error('no luck');
    },
  });
  const { troupe, items, dataset } = await start(
    t,
    { capture_tool_io: 'arguments_and_results' },
    {},
    { tools: [look, large, failing] },
  );
  troupe.models.steps.push(
    asks(['c1', 'look', { at: 'a' }]),
    asks(['c2', 'look', { at: 'api' }]),
    asks(['c3', 'large', {}]),
    asks(['c4', 'fail', {}]),
  );
  const from_run_id = await run(troupe, 'steps');
  t.equal((await items({ from_run_id, expected })).status, 201);
  const { tool_results = [], provider_script } = last(await dataset('D')) ?? {};
  t.match(tool_results, [
    { name: 'look', arguments: { at: 'a' }, result: { saw: 'a' } },
    { name: 'fail', arguments: {}, is_error: true },
  ]);
  t.equal(tool_results.length, 2);
  t.notOk('is_error' in (tool_results[0] ?? {}));
  t.match(provider_script, { length: 5 });
});

t.test('records no tool results if traces omit fields of tools', async (t) => {
  const { troupe, items, dataset } = await start(
    t,
    { capture_tool_io: 'arguments_and_results', tool_io_fields: ['at'] },
    {},
    { tools: [look] },
  );
  troupe.models.steps.push(asks(['c1', 'look', { at: 'a' }]));
  await items({ from_run_id: await run(troupe, 'steps'), expected });
  t.equal(last(await dataset('D'))?.tool_results, undefined);
});

t.test('requires a user input if none was captured', async (t) => {
  const { troupe, items, dataset } = await start(t, { capture_content: false });
  const from_run_id = await run(troupe, 'echo');
  t.match(await items({ from_run_id, expected }), { status: 400, body: { error: /user_input/ } });
  t.equal((await items({ from_run_id, expected, user_input: 'Hello' })).status, 201);
  t.match(last(await dataset('D')), { user_input: 'Hello', provider_script_error: /not captured/ });
});

t.test('reports invalid items in the order of the contract', async (t) => {
  const { troupe, ask, items } = await start(t);
  const id = await run(troupe, 'echo');
  const of = (from_run_id: string, to = 'none', more: object = {}) =>
    items({ from_run_id, expected, ...more }, to);
  t.match(await of('x', 'none', { expected: {} }), { status: 400, body: { error: /expectation/ } });
  t.match(await of('x'), { status: 404, body: { error: 'trace not found: x' } });
  t.match(await of('a/b'), { status: 400, body: { error: 'invalid run id: a/b' } });
  t.match(await of(id), { status: 404, body: { error: 'dataset not found: none' } });
  await ask('PUT', '/D', { spec: { fixtures: [fixture(id)] } });
  t.match(await of(id, 'D'), { status: 409, body: { error: /already has fixture/ } });
  t.equal((await of(id, 'D', { fixture_id: 'other' })).status, 201);
});

for (const sink of [false, true]) {
  const where = sink ? ' in a folder of its own' : '';
  t.test(`keeps a trace${where} that a fixture names, and prunes one whose item was rejected`, async (t) => {
    const clock = { at: Date.now() };
    const dir = t.testdir({ store: {}, sink: {} });
    const { troupe, items, ask } = await start(
      t,
      { retention_days: 0, ...(sink && { sink_dir: `${dir}/sink` }) },
      { storage_dir: `${dir}/store` },
      { clock: { now: () => clock.at, monotonic: () => performance.now() } },
    );
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.push(await run(troupe, 'echo', { threadId: 'T' }));
    const [kept = '', lost = '', stale = '', first = '', second = ''] = ids;
    t.equal((await items({ from_run_id: kept, expected })).status, 201);
    t.equal((await items({ from_run_id: kept, fixture_id: kept, expected })).status, 409);
    t.equal((await items({ from_run_id: lost, fixture_id: kept, expected })).status, 409);
    const dialogue = { run_ids: [stale], expected };
    t.equal((await ask('POST', '/D/import-dialogue', { ...dialogue, expected_revision: 0 })).status, 409);
    const both = { run_ids: [first, second], expected, expected_revision: 1 };
    t.equal((await ask('POST', '/D/import-dialogue', both)).status, 200);
    await ask('DELETE', '/D');
    clock.at += 10_000;
    // Startup prunes traces.
    await troupe.restart();
    const there = async (id: string) => (await troupe.admin('GET', `/v1/traces/${id}`)).status;
    for (const id of [lost, stale])
      await eventually(
        () => there(id),
        (status) => status === 404,
      );
    for (const id of [kept, first, second]) t.equal(await there(id), 200, `sink: ${sink}`);
    t.equal((await ask('GET', '/D')).status, 404);
  });
}

t.test('imports each trace once', async (t) => {
  const { troupe, ask, dataset } = await start(t);
  const ids = [await run(troupe, 'echo'), await run(troupe, 'echo')];
  const imports = (expected_revision: number, more: object = {}) =>
    ask('POST', '/D/import-traces', { expected_revision, expected, ...more });
  t.strictSame((await imports(0)).body, { imported_count: 2, skipped_count: 0, dataset_revision: 1 });
  const { spec } = await dataset('D');
  t.strictSame(spec.fixtures?.map(({ id }) => id).sort(), ids.sort());
  t.match(spec.fixtures?.[0], {
    description: /^Imported from trace /,
    user_input: 'Hello',
    expect: expected,
  });
  t.strictSame((await imports(1)).body, { imported_count: 0, skipped_count: 2, dataset_revision: 1 });
  t.equal((await dataset('D')).meta.revision, 1);
  t.match(await imports(0), { status: 409, body: { error: 'revision conflict: expected 0, actual 1' } });
  t.match(await imports(9, { expected: {} }), { status: 400, body: { error: /at least one expectation/ } });
  t.equal((await ask('POST', '/none/import-traces', { expected_revision: 0, expected })).status, 404);
  t.equal((await ask('POST', '/D/import-traces', { expected })).status, 422);
});

t.test('aborts an import at a trace that is not a test case unless it may be skipped', async (t) => {
  const { troupe, ask, dataset } = await start(t, {}, {}, { tools: [look] });
  await run(troupe, 'echo');
  troupe.models.steps.push(asks(['c1', 'look', { at: 'a' }], ['c2', 'look', { at: 'b' }]));
  const bad = await run(troupe, 'steps');
  const body = { expected_revision: 0, expected, provider_script_mode: 'require' };
  const refused = await ask('POST', '/D/import-traces', body);
  t.match(refused, { status: 400, body: { error: `curating trace ${bad}: provider_script currently` } });
  t.strictSame((await dataset('D')).spec, {});
  const left = await ask('POST', '/D/import-traces', { ...body, skip_uncuratable: true });
  t.strictSame(left.body, { imported_count: 1, skipped_count: 1, dataset_revision: 1 });
});

t.test('rejects an import without captured input, and names the missing part', async (t) => {
  const { troupe, ask } = await start(t, { capture_content: false });
  await run(troupe, 'echo');
  const refused = await ask('POST', '/D/import-traces', { expected_revision: 0, expected });
  t.match(refused, { status: 400, body: { error: /request_messages/ } });
});

t.test('imports the newest traces, filtered by agent', async (t) => {
  const more = { eval_limits: { default_import_traces_max: 3 } };
  const { troupe, ask, make, dataset } = await start(t, {}, more);
  const ids = [];
  for (let count = 0; count < 4; count += 1) ids.push(await run(troupe, 'echo'));
  const flaky = await run(troupe, 'flaky');
  const listed = (await troupe.admin('GET', '/v1/traces')).body.runs;
  const newest = z.array(z.object({ run_id: z.string() })).parse(listed);
  const imported = async (id: string, body: object) => {
    await make(id);
    const answer = await ask('POST', `/${id}/import-traces`, { expected_revision: 0, expected, ...body });
    t.equal(answer.status, 200);
    return (await dataset(id)).spec.fixtures?.map((each) => each.id) ?? [];
  };
  t.strictSame(
    await imported('default', {}),
    newest.slice(0, 3).map(({ run_id }) => run_id),
  );
  t.strictSame(await imported('one', { max_count: 1 }), [newest[0]?.run_id]);
  t.strictSame(await imported('none', { max_count: 0 }), []);
  t.strictSame(await imported('flaky', { agent_id: 'flaky' }), [flaky]);
  t.strictSame(await imported('later', { since_secs: 9_000_000_000 }), []);
  t.equal((await imported('since', { since_secs: 1, max_count: 100 })).length, ids.length + 1);
});

t.test('turns runs of a thread into the turns of one fixture', async (t) => {
  const { troupe, ask, items, dataset } = await start(t);
  const say = (content: string, threadId: string) =>
    run(troupe, 'echo', { threadId, messages: [{ role: 'user', content }] });
  const run_ids = [await say('one', 'T'), await say('two', 'T')];
  const other = await say('three', 'U');
  const dialogue = (body: object) =>
    ask('POST', '/D/import-dialogue', { expected_revision: 0, expected, ...body });
  t.match(await dialogue({ run_ids: [] }), { status: 400, body: { error: /run_ids must be non-empty/ } });
  t.match(await dialogue({ run_ids, expected: {} }), { status: 400, body: { error: /expectation/ } });
  t.match(await dialogue({ run_ids: [run_ids[0], other] }), { status: 400, body: { error: /thread_id=/ } });
  t.match(await dialogue({ run_ids: ['x'] }), { status: 404, body: { error: 'trace not found: x' } });
  t.strictSame((await dialogue({ run_ids, fixture_id: 'two-turns' })).body, {
    fixture_id: 'two-turns',
    dataset_revision: 1,
  });
  t.match(last(await dataset('D')), {
    id: 'two-turns',
    description: 'Stitched dialogue from 2 runs',
    user_input: 'one',
    provider_script: [{ content: 'echo: one' }],
    continued_turns: [{ user_input: 'two', provider_script: [{ content: 'echo: two' }] }],
    source_run_id: run_ids[0],
    source_model_id: 'echo-upstream',
    expect: expected,
  });
  t.match(await dialogue({ run_ids }), { status: 409, body: { error: /revision conflict/ } });
  const taken = { run_ids, fixture_id: 'two-turns', expected_revision: 1 };
  t.match(await dialogue(taken), { status: 409, body: { error: /already has fixture/ } });
  t.equal(
    (await ask('POST', '/none/import-dialogue', { run_ids, expected, expected_revision: 0 })).status,
    404,
  );
  t.equal((await items({ dialogue: { run_ids, description: 'mine' }, expected })).status, 201);
  t.match(last(await dataset('D')), { id: run_ids[0], description: 'mine', continued_turns: { length: 1 } });
  t.equal((await items({ dialogue: { run_ids }, expected })).status, 409);
});

t.test('returns 503 for curation without traces, but serves datasets', async (t) => {
  const { ask, make } = await startDatasets(t, { settings: { observability_disable: true } });
  await make('D');
  const missing = { status: 503, body: { error: /trace store not configured/ } };
  const body = { expected_revision: 9 };
  t.match(await ask('POST', '/none/items', { from_run_id: 'a/b' }), missing);
  t.match(await ask('POST', '/none/items', { dialogue: { run_ids: [] } }), missing);
  t.match(await ask('POST', '/none/import-traces', body), missing);
  t.match(await ask('POST', '/none/import-dialogue', { ...body, run_ids: [] }), missing);
});
