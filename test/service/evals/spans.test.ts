import t, { type Test } from 'tap';
import { type ReceivedSpan, type Receiver, startReceiver } from '../../observability/otel/receiver.ts';
import { calls, type Evals, hangs, responds, says, startEvals } from './evals.ts';

/** Spans of replays as a collector receives them: evals-and-traces.md 12. */

const exported = async (t: Test): Promise<{ receiver: Receiver; evals: Evals }> => {
  const receiver = await startReceiver(t);
  const evals = await startEvals(t, { app: { env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } } });
  return { receiver, evals };
};

const inferencesIn = ({ spans }: Receiver): ReceivedSpan[] =>
  spans
    .filter(({ name }) => name.startsWith('chat '))
    .toSorted((one, other) => Number(one.startTimeUnixNano - other.startTimeUnixNano));

const rootsIn = ({ spans }: Receiver): ReceivedSpan[] =>
  spans.filter(({ name }) => name.startsWith('invoke_agent'));

const judge = { model_id: 'judge', rubric: 'Be kind.' };

t.test('adds a verdict as an event to the judged inference, and marks all spans as replay', async (t) => {
  const { receiver, evals } = await exported(t);
  await evals.dataset('D', [{ id: 'f', user_input: 'Hello', expect: { min_judge_score: 0.7 } }]);
  evals.speak('m1', calls('c', 'weather'), says('kind enough'));
  evals.speak('judge', says('{"score": 0.9, "reasoning": "warm"}'));
  const { items } = await evals.evaluate({ dataset_id: 'D', models: ['m1'], judge });
  await evals.app.stop();

  const { spans } = receiver;
  t.ok(spans.length >= 4, 'the trace has a root, two inferences and a call');
  for (const { name, attributes } of spans) t.equal(attributes['agent_service.replay'], true, name);
  const [root] = rootsIn(receiver);
  t.match(root?.attributes, {
    'agent_service.run.id': items[0]?.trace_run_id,
    'gen_ai.provider.name': 'live',
    'agent_service.session.inference_count': 2,
    'agent_service.session.tool_failures': 1,
  });
  const [first, last] = inferencesIn(receiver);
  t.equal(last?.parentSpanId, root?.spanId);
  t.strictSame(first?.events, []);
  t.strictSame(last?.events, [
    {
      name: 'gen_ai.evaluation.result',
      attributes: {
        'gen_ai.evaluation.name': 'judge',
        'gen_ai.evaluation.score.value': 0.9,
        'gen_ai.evaluation.explanation': 'warm',
      },
    },
  ]);
  const { startTimeUnixNano: from = 0n, endTimeUnixNano: to = 0n } = last ?? {};
  t.ok(to >= from && to <= (root?.endTimeUnixNano ?? 0n), 'the verdict does not extend its inference');
});

t.test('adds the verdict to the last of several revised completions', async (t) => {
  const { receiver, evals } = await exported(t);
  await evals.dataset('D', [{ id: 'f', user_input: 'Hello', expect: { min_judge_score: 0.7 } }]);
  evals.speak('m1', says('first'), says('second'));
  evals.speak('judge', says('{"score": 0.2}'), says('{"score": 0.8}'));
  await evals.evaluate({ dataset_id: 'D', models: ['m1'], judge: { ...judge, revise_max_retries: 2 } });
  await evals.app.stop();
  t.equal(rootsIn(receiver).length, 2, 'each turn has a root span');
  const [first, second] = inferencesIn(receiver);
  t.strictSame(first?.events, []);
  t.equal(second?.events[0]?.attributes['gen_ai.evaluation.score.value'], 0.8);
});

t.test('exports no spans of scripted or cut-off replays', async (t) => {
  const { receiver, evals } = await exported(t);
  await evals.dataset('D', [{ id: 'f', user_input: 'Hello', provider_script: [responds('scripted')] }]);
  const made = await evals.ask('POST', '/v1/eval/runs', { dataset_id: 'D' });
  t.equal(made.status, 200, JSON.stringify(made.body));
  await evals.dataset('H', [{ id: 'h', user_input: 'Hello' }]);
  evals.speak('m1', calls('c', 'weather'), hangs);
  await evals.evaluate({ dataset_id: 'H', models: ['m1'], max_walltime_secs: 5 });
  await evals.app.stop();
  const roots = rootsIn(receiver);
  t.equal(roots.length, 2);
  for (const { spanId } of roots)
    t.ok(
      inferencesIn(receiver).some(({ parentSpanId }) => parentSpanId === spanId),
      'the span of the inference is exported',
    );
  t.strictSame(roots.map(({ attributes }) => attributes['gen_ai.provider.name']).toSorted(), [
    'live',
    'scripted',
  ]);
});
