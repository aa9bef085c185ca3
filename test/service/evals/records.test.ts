import t from 'tap';
import { lastInput, responds, says, startEvals } from './evals.ts';

/** Records, lists and baselines over HTTP: evals-and-traces.md 6.2 to 6.5, 8, checks 44 to 47, 50, 51. */

const fixture = (id: string, text: string, expected = text) => ({
  id,
  user_input: 'Hello',
  provider_script: [responds(text)],
  expect: { final_answer_contains: [expected] },
});

t.test('reads a run as it was returned', async (t) => {
  const { dataset, evaluate, ask } = await startEvals(t);
  await dataset('D', [fixture('f', 'hi')]);
  const run = await evaluate({ dataset_id: 'D' });
  const { status, body } = await ask('GET', `/v1/eval/runs/${run.id}`);
  t.equal(status, 200);
  t.strictSame(body, { run });
});

t.test('returns 404 for an unknown run, and rejects invalid ids', async (t) => {
  const { ask, call } = await startEvals(t);
  for (const path of ['', '/stream']) {
    t.match((await ask('GET', `/v1/eval/runs/nobody${path}`)).body, { error: 'eval run not found: nobody' });
  }
  t.equal((await ask('POST', '/v1/eval/runs/nobody/cancel')).status, 404);
  for (const id of ['a%2Fb', 'a%5Cb', '..%2F', 'a%00']) {
    const { status, body } = await ask('GET', `/v1/eval/runs/${id}`);
    t.match({ status, body }, { status: 400, body: { error: /invalid eval run id/ } }, id);
  }
  t.equal((await call('GET', '/v1/eval/runs/nobody')).status, 401);
});

t.test('aggregates samples on request', async (t) => {
  const { dataset, evaluate, ask, speak, list } = await startEvals(t);
  await dataset('D', [{ id: 'f', user_input: 'Hello', expect: { final_answer_contains: ['yes'] } }]);
  speak('m1', says('yes'), says('no'), says('yes'));
  const { id } = await evaluate({ dataset_id: 'D', models: ['m1'], samples: 3 });
  const { body } = await ask('GET', `/v1/eval/runs/${id}?aggregate=samples`);
  const aggregate = {
    fixture_id: 'f',
    cell: { model_id: 'm1' },
    samples: 3,
    passed: 2,
    pass_rate: 2 / 3,
    pass_at_k: true,
    pass_pow_k: false,
  };
  t.strictSame(body.aggregates, [aggregate]);
  t.notOk('aggregates' in (await ask('GET', `/v1/eval/runs/${id}`)).body);
  t.strictSame((await list('?aggregate=samples'))[0]?.aggregates, [aggregate]);
  t.notOk('aggregates' in ((await list())[0] ?? {}));
  for (const path of [
    `/${id}?aggregate=tokens`,
    '?aggregate=tokens',
    `/${id}?x=1`,
    `/${id}?aggregate=samples&aggregate=samples`,
  ])
    t.equal((await ask('GET', `/v1/eval/runs${path}`)).status, 400, path);
});

t.test('compares a run with a baseline, on creation and later', async (t) => {
  const { dataset, evaluate, ask, get, speak } = await startEvals(t);
  const expect = { final_answer_contains: ['yes'] };
  await dataset(
    'D',
    ['a', 'b'].map((id) => ({ id, user_input: id, expect })),
  );
  const cell = { model_id: 'm1' };
  speak('m1', says('yes'));
  const before = await evaluate({ dataset_id: 'D', models: ['m1'] });
  t.strictSame((await get(before.id, `?baseline=${before.id}`)).diff?.entries, [
    { kind: 'unchanged', fixture_id: 'a', cell },
    { kind: 'unchanged', fixture_id: 'b', cell },
  ]);
  speak('m1', (sink, request) => {
    sink.text(lastInput(request) === 'a' ? 'oh yes' : 'no');
    return { stop: 'EndTurn', usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } };
  });
  const body = { dataset_id: 'D', models: ['m1'], baseline_run_id: before.id };
  const answer = await ask('POST', '/v1/eval/runs', body);
  t.strictSame(answer.body.diff, {
    entries: [
      { kind: 'drift', fixture_id: 'a', cell, fields: ['final_text'] },
      { kind: 'regression', fixture_id: 'b', cell, new_failures: ['answer_missing_phrase'] },
    ],
  });
  t.notOk('baseline_run_id' in Object(answer.body.run), 'the baseline of a query is not stored');
});

t.test('rejects runs that cannot be compared, with the reason, before executing anything', async (t) => {
  const { dataset, evaluate, ask, get, list, asked } = await startEvals(t);
  await dataset('D', [fixture('f', 'hi')]);
  await dataset('E', [fixture('f', 'hi')]);
  const live = { dataset_id: 'D', models: ['m1'] };
  const [scripted, other, sampled, single] = [
    await evaluate({ dataset_id: 'D' }),
    await evaluate({ dataset_id: 'E' }),
    await evaluate({ ...live, samples: 2 }),
    await evaluate(live),
  ];
  const online = await ask('POST', '/v1/eval/online', { user_input: 'Hello', models: ['m1'] });
  const adHoc = String(Object(online.body.run).id);
  const before = asked.length;
  const rows: [body: object, id: string, baseline: string, text: string][] = [
    [{ dataset_id: 'D' }, scripted.id, adHoc, 'ad-hoc'],
    [{ dataset_id: 'D' }, scripted.id, other.id, 'across datasets'],
    [live, single.id, scripted.id, 'execution modes'],
    [live, single.id, sampled.id, 'different sample counts'],
  ];
  for (const [body, id, baseline, text] of rows) {
    const made = await ask('POST', '/v1/eval/runs', { ...body, baseline_run_id: baseline });
    const read = await ask('GET', `/v1/eval/runs/${id}?baseline=${baseline}`);
    for (const answer of [made, read]) {
      t.equal(answer.status, 400, text);
      t.ok(String(answer.body.error).includes(text), `${text}: ${answer.body.error}`);
    }
  }
  await dataset('D', [fixture('f', 'hi')]);
  const revised = await ask('POST', '/v1/eval/runs', { dataset_id: 'D', baseline_run_id: scripted.id });
  t.match(revised.body, { error: /dataset revisions/ });
  const unknown = await ask('GET', `/v1/eval/runs/${scripted.id}?baseline=nobody`);
  t.match(unknown, { status: 404, body: { error: 'baseline eval run not found: nobody' } });
  t.equal(asked.length, before);
  t.equal((await list('?status=all')).length, 5);
  t.match((await get(sampled.id, `?baseline=${sampled.id}`)).diff?.entries, [
    { kind: 'still_failing', cell: { model_id: 'm1' }, sample_index: 0 },
    { kind: 'still_failing', cell: { model_id: 'm1' }, sample_index: 1 },
  ]);
});

t.test('lists runs in pages, newest first, filtered by dataset and time', async (t) => {
  let now = 1_700_000_000_000;
  const { dataset, evaluate, ask, list } = await startEvals(t, { app: { clock: { now: () => now } } });
  await dataset('D', [fixture('f', 'hi')]);
  await dataset('E', [fixture('f', 'hi'), fixture('g', 'hi', 'other')]);
  const made: string[] = [];
  for (const dataset_id of ['D', 'E', 'D', 'E', 'D']) {
    made.push((await evaluate({ dataset_id })).id);
    now += 1000;
  }
  const newest = made.toReversed();
  t.strictSame(
    (await list()).map(({ id }) => id),
    newest,
  );
  t.match(await list('?dataset_id=E'), [
    { dataset_id: 'E', item_count: 2, passed_count: 1, failed_count: 1, started_at_secs: 1_700_000_003 },
    { dataset_id: 'E' },
  ]);
  t.strictSame(
    (await list('?since_secs=1700000001&until_secs=1700000003')).map(({ id }) => id),
    [made[2], made[1]],
  );
  for (const query of ['', '&dataset_id=D', '&status=all']) {
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await ask('GET', `/v1/eval/runs?limit=1${query}${cursor && `&cursor=${cursor}`}`);
      seen.push(...(body.runs as { id: string }[]).map(({ id }) => id));
      cursor = String(body.next_cursor ?? '');
    } while (cursor);
    t.strictSame(seen, query.includes('D') ? [made[4], made[2], made[0]] : newest);
  }
  const { body } = await ask('GET', '/v1/eval/runs?limit=1&dataset_id=D');
  const refused = ['limit=x', 'since_secs=-1', 'x=1', 'status=odd', 'cursor=nonsense', 'limit=1&limit=2'];
  for (const query of [...refused, `dataset_id=E&cursor=${body.next_cursor}`, `cursor=${body.next_cursor}`])
    t.equal((await ask('GET', `/v1/eval/runs?${query}`)).status, 400, query);
});

t.test('limits a page to two hundred runs', async (t) => {
  const { dataset, ask } = await startEvals(t);
  await dataset('D', [fixture('f', 'hi')]);
  for (let round = 0; round < 21; round += 1) {
    const all = Array.from({ length: 10 }, () => ask('POST', '/v1/eval/runs', { dataset_id: 'D' }));
    for (const { status } of await Promise.all(all)) t.equal(status, 200);
  }
  const { body } = await ask('GET', '/v1/eval/runs?limit=1000');
  t.equal((body.runs as unknown[]).length, 200);
  t.ok(body.next_cursor);
});

t.test('logs the start and the result of a run in the event log', async (t) => {
  const { dataset, evaluate, call, ask } = await startEvals(t);
  for (let revision = 0; revision <= 3; revision += 1) {
    await dataset('D', [fixture('f', 'hi'), fixture('g', 'hi', 'other')]);
  }
  const { id, started_at_secs, ended_at_secs } = await evaluate({ dataset_id: 'D' });
  const { body } = await call('GET', `/v1/runs/${id}/events`);
  const facts = {
    eval_run_id: id,
    dataset_id: 'D',
    dataset_revision: 3,
    mode: 'dataset_scripted',
    started_at_secs,
  };
  const told = { run_id: id, origin: 'eval', visibility: 'internal', correlation_id: id };
  t.match(body.items, [
    { ...told, event_kind: 'EvalRunStarted', payload: { ...facts, planned_item_count: 2 } },
    {
      ...told,
      event_kind: 'EvalRunCompleted',
      payload: {
        ...facts,
        item_count: 2,
        passed_count: 1,
        failed_count: 1,
        total_cost_usd: 0,
        ended_at_secs,
        persisted: true,
      },
    },
  ]);
  t.strictSame(
    (body.items as { scopes: unknown }[]).map(({ scopes }) => scopes),
    Array.from({ length: 2 }, () => [{ scope_type: 'run', run_id: id }]),
  );
  const online = await ask('POST', '/v1/eval/online', {
    user_input: 'Hello',
    models: ['m1'],
    persist: false,
  });
  const events = await call('GET', `/v1/runs/${Object(online.body.run).id}/events`);
  t.match(events.body.items, [
    { event_kind: 'EvalRunStarted', payload: { mode: 'online_live_matrix' } },
    { event_kind: 'EvalRunCompleted', payload: { persisted: false } },
  ]);
});

t.test('stores an online eval unless the request disables it', async (t) => {
  const { ask, list, get } = await startEvals(t);
  const body = { user_input: 'Hello', models: ['m2', 'm1'], samples: 2 };
  const kept = await ask('POST', '/v1/eval/online', {
    ...body,
    expectations: { final_answer_contains: ['m1'] },
  });
  t.match(kept.body, {
    persisted: true,
    run: { dataset_id: '_adhoc', dataset_revision: 0, execution_mode: 'live' },
  });
  const { id } = Object(kept.body.run);
  const { run } = await get(id);
  t.strictSame(run, kept.body.run);
  t.strictSame(
    run.items.map(({ fixture_id, cell, sample_index, report }) => [
      fixture_id,
      cell?.model_id,
      sample_index,
      report.passed,
    ]),
    [
      ['_adhoc', 'm2', 0, false],
      ['_adhoc', 'm2', 1, false],
      ['_adhoc', 'm1', 0, true],
      ['_adhoc', 'm1', 1, true],
    ],
  );
  const gone = await ask('POST', '/v1/eval/online', { ...body, persist: false });
  t.match(gone.body, { persisted: false, run: { items: { length: 4 } } });
  t.equal((await ask('GET', `/v1/eval/runs/${Object(gone.body.run).id}`)).status, 404);
  t.strictSame(
    (await list('?dataset_id=_adhoc')).map((each) => each.id),
    [id],
  );
});

t.test('does not serve evals unless they are exposed', async (t) => {
  const hidden = await startEvals(t, {
    settings: { AdminApiConfig: { bearer_token: 'admin-token-of-the-tests', expose_eval_routes: false } },
  });
  for (const path of ['/v1/eval/runs', '/v1/eval/runs/x'])
    t.equal((await hidden.ask('GET', path)).status, 404);
});

t.test('lists exposed evals as a module', async (t) => {
  const { admin } = await startEvals(t);
  t.match(JSON.stringify((await admin('GET', '/v1/system/modules')).body), '"eval"');
});

t.test('omits trace ids without traces', async (t) => {
  const { dataset, evaluate } = await startEvals(t, { settings: { observability_disable: true } });
  await dataset('D', [fixture('f', 'hi')]);
  const { items } = await evaluate({ dataset_id: 'D' });
  t.match(items, [{ report: { passed: true, inference_count: 1 } }]);
  t.notOk('trace_run_id' in (items[0] ?? {}));
});
