import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { calls, hangs, lastInput, only, says, startEvals } from './evals.ts';

/** Live runs over HTTP: evals-and-traces.md 5.3, checks 36 to 38, 42. */

const fixtures = (...ids: string[]) => ids.map((id) => ({ id, user_input: `Hello ${id}` }));

t.test('orders items by fixture, model and sample, whatever finishes first', async (t) => {
  const { dataset, evaluate, speak } = await startEvals(t);
  await dataset('D', fixtures('f', 'g'));
  // The first model completes last.
  const late: string[] = [];
  speak('m1', async (sink, request) => {
    while (late.length < 4) await new Promise(setImmediate);
    sink.text(`late: ${lastInput(request)}`);
    return { stop: 'EndTurn' };
  });
  speak('m2', (sink, request) => {
    late.push(lastInput(request));
    sink.text('early');
    return { stop: 'EndTurn' };
  });
  const { items } = await evaluate({ dataset_id: 'D', models: ['m1', 'm2'], samples: 2 });
  t.strictSame(
    items.map(({ fixture_id, cell, sample_index }) => [fixture_id, cell?.model_id, sample_index]),
    ['f', 'g'].flatMap((id) => ['m1', 'm2'].flatMap((model) => [0, 1].map((n) => [id, model, n]))),
  );
  t.strictSame(
    items.map(({ report }) => report.final_text),
    ['f', 'g'].flatMap((id) => [`late: Hello ${id}`, `late: Hello ${id}`, 'early', 'early']),
  );
});

t.test('omits the number of a single sample', async (t) => {
  const { dataset, evaluate } = await startEvals(t);
  await dataset('D', fixtures('f'));
  const { items, execution_mode } = await evaluate({ dataset_id: 'D', models: ['m1'], samples: 1 });
  t.equal(execution_mode, 'live');
  t.strictSame(items[0]?.cell, { model_id: 'm1' });
  t.notOk('sample_index' in (items[0] ?? {}));
});

t.test('cuts off a hanging model at the deadline of its cell, without delaying others', async (t) => {
  const { dataset, evaluate, speak } = await startEvals(t);
  await dataset('D', fixtures('f'));
  speak('m1', hangs);
  const { items } = await evaluate({ dataset_id: 'D', models: ['m1', 'm2'], max_walltime_secs: 5 });
  const [hung, other] = items;
  t.equal(hung?.report.passed, false);
  t.strictSame(hung?.report.runtime_failure, {
    kind: 'runtime_error',
    message: 'cell walltime exceeded: max 5s',
  });
  t.match(hung?.report, { final_text: '', total_tokens: 0 });
  t.equal(hung?.trace_run_id, undefined);
  t.ok(Number(hung?.report.elapsed_ms) >= 4900);
  t.equal(other?.report.passed, true);
});

t.test('cuts off a model that ignores the abort signal', async (t) => {
  const { dataset, evaluate, speak } = await startEvals(t);
  await dataset('D', fixtures('f'));
  speak('m1', () => new Promise(() => {}));
  const report = only(await evaluate({ dataset_id: 'D', models: ['m1'], max_walltime_secs: 1 }));
  t.match(report.runtime_failure, { message: 'cell walltime exceeded: max 1s' });
});

t.test('fails only the cells of endless deltas and other failures', async (t) => {
  const { dataset, evaluate, speak } = await startEvals(t);
  await dataset('D', fixtures('f'));
  let deltas = 0;
  speak('m1', async (sink, _request, signal) => {
    for (; !signal.aborted; deltas += 1) {
      sink.text('x'.repeat(1024 * 1024));
      await new Promise(setImmediate);
    }
    throw new ModelError('cancelled', '');
  });
  speak('m2', () => {
    throw new TypeError('a bug');
  });
  speak('judge', () => {
    throw new ModelError('unauthorized', 'no key', { final: true });
  });
  const { items } = await evaluate({
    dataset_id: 'D',
    models: ['m1', 'm2', 'judge', 'priced'],
    max_walltime_secs: 20,
  });
  const [flood, bug, denied, fine] = items.map(({ report }) => report);
  t.match(flood?.runtime_failure, { kind: 'runtime_error', message: /no end/ });
  t.ok(deltas < 10, 'the recorded deltas are bounded');
  t.match(bug?.runtime_failure, { kind: 'runtime_error', message: /a bug/ });
  t.match(denied, { error_type: 'unauthorized', inference_error_count: 1, final_text: '' });
  t.equal(fine?.passed, true);
});

t.test('passes an expected failure of a live model', async (t) => {
  const { dataset, evaluate, speak } = await startEvals(t);
  await dataset('D', [{ id: 'f', user_input: 'Hello', expect: { expected_error_type: 'content_filtered' } }]);
  speak('m1', () => {
    throw new ModelError('content_filtered', 'no');
  });
  const { items } = await evaluate({ dataset_id: 'D', models: ['m1', 'm2'] });
  t.match(items[0]?.report, { passed: true, error_type: 'content_filtered' });
  t.strictSame(items[1]?.report.failures, [{ kind: 'expected_error_missing', expected: 'content_filtered' }]);
});

t.test('fails a completion over budget, and keeps its tokens and text', async (t) => {
  const { dataset, evaluate, speak } = await startEvals(t);
  await dataset('D', fixtures('f'));
  speak('m1', says('a lot', { prompt_tokens: 90, completion_tokens: 30, total_tokens: 120 }));
  const report = only(await evaluate({ dataset_id: 'D', models: ['m1'], max_total_tokens: 100 }));
  t.match(report, {
    passed: false,
    final_text: 'a lot',
    total_tokens: 120,
    runtime_failure: { kind: 'runtime_error', message: 'token budget exceeded: 120 > max 100' },
  });
});

t.test('reports the cost if both prices are known', async (t) => {
  const { dataset, evaluate, speak } = await startEvals(t);
  await dataset('D', fixtures('f'));
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 500_000, total_tokens: 1_500_000 };
  for (const model of ['priced', 'half-priced']) speak(model, says('hi', usage));
  const body = { dataset_id: 'D', models: ['priced', 'half-priced'], max_total_tokens: 2_000_000 };
  const [priced, half] = (await evaluate(body)).items;
  t.equal(priced?.report.cost_usd, 2);
  t.notOk('cost_usd' in (half?.report ?? {}));
});

t.test('combines agents and variants as axes, and applies their overrides', async (t) => {
  const { dataset, evaluate, asked, ask } = await startEvals(t);
  await dataset('D', fixtures('f'));
  for (const id of ['polite', 'rude']) {
    const spec = { id, model_id: 'm2', system_prompt: `Be ${id}.`, plugin_ids: ['permission'] };
    t.equal((await ask('POST', '/v1/config/agents', spec)).status, 201);
  }
  const { items } = await evaluate({
    dataset_id: 'D',
    models: ['m1'],
    agents: ['polite', 'rude'],
    variants: [{ id: 'as-it-is' }, { id: 'short', agent_overrides: { system_prompt: 'Be short.' } }],
  });
  t.strictSame(
    items.map(({ cell }) => cell),
    ['polite', 'rude'].flatMap((agent_id) =>
      ['as-it-is', 'short'].map((variant_id) => ({ model_id: 'm1', agent_id, variant_id })),
    ),
  );
  t.ok(items.every(({ report }) => report.passed));
  t.strictSame(asked.map(({ model, request }) => [model, ...request.system]).sort(), [
    ['m1', 'Be polite.'],
    ['m1', 'Be rude.'],
    ['m1', 'Be short.'],
    ['m1', 'Be short.'],
  ]);
});

t.test('fails the cell of invalid overrides', async (t) => {
  const { dataset, evaluate } = await startEvals(t);
  await dataset('D', fixtures('f'));
  const overrides = { stop_conditions: [{ type: 'nonsense' }] };
  const report = only(await evaluate({ dataset_id: 'D', models: ['m1'], agent_overrides: overrides }));
  t.match(report.runtime_failure, { kind: 'runtime_error', message: /^invalid agent override: / });
});

t.test('runs a dialogue live on one thread, and ignores its script', async (t) => {
  const { dataset, evaluate, asked, admin } = await startEvals(t);
  const script = [{ kind: 'chat_response', content: 'scripted' }];
  await dataset('D', [
    {
      id: 'f',
      user_input: 'One',
      provider_script: script,
      continued_turns: [{ user_input: 'Two', provider_script: script }],
    },
  ]);
  const { items } = await evaluate({ dataset_id: 'D', models: ['m1'] });
  t.match(items[0]?.report, { final_text: 'm1 heard: Two', inference_count: 2 });
  t.strictSame(
    asked.at(-1)?.request.messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
  const trace = String((await admin('GET', `/v1/traces/${items[0]?.trace_run_id}`)).body.text);
  t.match(JSON.parse(trace), {
    provider: 'live',
    model: 'm1',
    response_content: [{ type: 'text', text: 'm1 heard: One' }],
    request_messages: [{ role: 'user' }],
  });
});

t.test('offers no tools by default', async (t) => {
  const { dataset, evaluate, speak, asked } = await startEvals(t);
  await dataset('D', fixtures('f'));
  speak('m1', calls('c', 'get_weather'), says('done'));
  const report = only(await evaluate({ dataset_id: 'D', models: ['m1'] }));
  t.match(report, { final_text: 'done', tool_count: 1, tool_failures: 1 });
  t.strictSame(asked[0]?.request.tools, []);
});
