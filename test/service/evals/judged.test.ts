import t from 'tap';
import { hangs, lastInput, only, type Speak, says, startEvals } from './evals.ts';

/** Judges over HTTP: evals-and-traces.md 5.4, checks 39 to 41. */

const judged = (id: string, min_judge_score = 0.7) => ({
  id,
  user_input: `Hello ${id}`,
  expect: { min_judge_score },
});

const run = (more: object = {}) => ({
  dataset_id: 'D',
  models: ['m1'],
  judge: { model_id: 'judge', rubric: 'Be kind.', ...more },
});

const scores = (...all: number[]): Speak[] =>
  all.map((score) => says(`\`\`\`json\n{"score": ${score}, "reasoning": "because ${score}"}\n\`\`\``));

t.test('fails a score below the threshold, and keeps the reasoning in the report and trace', async (t) => {
  const { dataset, evaluate, speak, asked, admin } = await startEvals(t);
  await dataset('D', [judged('f')]);
  speak('judge', ...scores(0.4));
  const made = await evaluate(run());
  t.match(only(made), { passed: false, judge_score: 0.4, judge_reasoning: 'because 0.4', total_tokens: 15 });
  t.strictSame(only(made).failures, [{ kind: 'judge_below_threshold', threshold: 0.7, actual: 0.4 }]);
  t.notOk('revision_count' in only(made));
  const question = asked.find(({ model }) => model === 'judge')?.request;
  t.match(question?.messages.at(-1)?.content, [{ text: /Be kind\./ }]);
  const id = made.items[0]?.trace_run_id;
  const lines = String((await admin('GET', `/v1/traces/${id}`)).body.text);
  t.match(JSON.parse(lines.trim().split('\n').at(-1) ?? ''), { type: 'evaluation_result', score_value: 0.4 });
  t.match((await admin('GET', '/v1/traces')).body, { runs: [{ run_id: id, judge_score: 0.4 }] });
});

t.test('counts tokens and cost of every judgement separately from the replay', async (t) => {
  const { dataset, evaluate, speak, call } = await startEvals(t);
  await dataset('D', [judged('f')]);
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 500_000, total_tokens: 1_500_000 };
  speak('m1', says('first'), says('second'));
  speak('priced', says('no JSON', usage), says('{"score": 0.9}', usage));
  const body = run({ model_id: 'priced', revise_max_retries: 1 });
  const report = only(await evaluate(body));
  t.match(report, {
    judge_score: 0.9,
    total_tokens: 15,
    judge_input_tokens: 2_000_000,
    judge_output_tokens: 1_000_000,
    judge_cost_usd: 4,
  });
  t.notOk('cost_usd' in report);
  const { text } = (await call('GET', '/metrics')).body;
  t.match(text, /inference_tokens_total\{model="priced[^}]*type="input"\} 2000000/);
});

t.test('does not judge a fixture without an expected score', async (t) => {
  const { dataset, evaluate, asked } = await startEvals(t);
  await dataset('D', [{ id: 'f', user_input: 'Hello' }]);
  t.notOk('judge_score' in only(await evaluate(run())));
  t.notOk(asked.some(({ model }) => model === 'judge'));
});

t.test('revises a completion on its thread until the judge accepts it', async (t) => {
  const { dataset, evaluate, speak, asked } = await startEvals(t);
  await dataset('D', [judged('f')]);
  speak('m1', says('first'), says('second'));
  speak('judge', ...scores(0.3, 0.9));
  const report = only(await evaluate(run({ revise_max_retries: 3 })));
  t.match(report, {
    passed: true,
    final_text: 'second',
    revision_count: 1,
    judge_score: 0.9,
    inference_count: 2,
  });
  t.equal(asked.filter(({ model }) => model === 'judge').length, 2);
  const revision = asked.findLast(({ model }) => model === 'm1')?.request;
  t.strictSame(
    revision?.messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
  for (const part of ['first', '0.3', '0.7', 'because 0.3'])
    t.ok(revision && lastInput(revision).includes(part));
});

t.test('uses the last score when the revisions are exhausted', async (t) => {
  const { dataset, evaluate, speak, asked } = await startEvals(t);
  await dataset('D', [judged('f')]);
  speak('judge', ...scores(0.1, 0.2, 0.3));
  const report = only(await evaluate(run({ revise_max_retries: 2 })));
  t.match(report, { passed: false, revision_count: 2, judge_score: 0.3 });
  t.equal(asked.filter(({ model }) => model === 'judge').length, 3);
});

t.test('judges the last completion again when a later judgement fails', async (t) => {
  const { dataset, evaluate, speak, asked } = await startEvals(t);
  await dataset('D', [judged('f')]);
  speak('m1', says('first'), says('second'));
  speak('judge', ...scores(0.1), says('no JSON'), ...scores(0.8));
  const report = only(await evaluate(run({ revise_max_retries: 2 })));
  t.match(report, { passed: true, revision_count: 1, judge_score: 0.8, final_text: 'second' });
  t.equal(asked.filter(({ model }) => model === 'judge').length, 3);
});

t.test('fails only the item without a verdict', async (t) => {
  const { dataset, evaluate, speak } = await startEvals(t);
  await dataset('D', [judged('f'), judged('g')]);
  speak('judge', (sink, { messages }) => {
    const isFirst = JSON.stringify(messages).includes('Hello f');
    sink.text(isFirst ? 'I like it' : '{"score": 1}');
    return { stop: 'EndTurn' };
  });
  const [f, g] = (await evaluate(run())).items.map(({ report }) => report);
  t.match(f, { passed: false, final_text: 'm1 heard: Hello f', total_tokens: 15 });
  t.match(f?.runtime_failure, { kind: 'runtime_error', message: /^scoring failed: / });
  t.match(f?.failures, [{ kind: 'replay_runtime_failure', failure: { message: /^scoring failed: / } }]);
  t.match(g, { passed: true, judge_score: 1 });
});

t.test('reports a failed replay before a failed judgement', async (t) => {
  const { dataset, evaluate, speak } = await startEvals(t);
  await dataset('D', [judged('f')]);
  speak('judge', says('no JSON'));
  const report = only(await evaluate({ ...run(), max_total_tokens: 1 }));
  t.match(report.runtime_failure, { message: /^token budget exceeded/ });
  t.match(report.failures, [
    { failure: { message: /^token budget exceeded/ } },
    { failure: { message: /^scoring failed/ } },
  ]);
});

t.test('cuts off a hanging judge, and keeps the replay', async (t) => {
  const { dataset, evaluate, speak } = await startEvals(t);
  await dataset('D', [judged('f')]);
  speak('judge', hangs);
  const { items } = await evaluate({ ...run(), max_walltime_secs: 5 });
  t.match(items[0]?.report, {
    passed: false,
    final_text: 'm1 heard: Hello f',
    total_tokens: 15,
    runtime_failure: { kind: 'runtime_error', message: /scoring timed out after 5s/ },
  });
  t.ok(items[0]?.trace_run_id);
});
