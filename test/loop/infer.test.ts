import t from 'tap';
import { infer } from '../../src/loop/infer.ts';
import { completeStep } from '../../src/loop/step.ts';
import { MOST_RETRIES } from '../../src/loop/stream-receiver.ts';
import type { LoopObserver, Turn } from '../../src/loop/turn.ts';
import type { InferenceEnd, InferenceSink } from '../../src/models/model.ts';
import { textOf } from '../../src/schema/message.ts';
import type { RunEvent } from '../../src/schema/run-event.ts';
import { scene } from './turn.ts';

/** agent-loop.md 6: one completion of a model, with its measurements and stored parts. */

type Inferred = Parameters<LoopObserver['inference']['ended']>[0];

const never = new AbortController().signal;

/** A turn whose model streams this 300 ms after the request and 200 ms before it ends. */
const asking = (say: (sink: InferenceSink) => void, end: InferenceEnd) => {
  const { turn: base } = scene({});
  const inferred: Inferred[] = [];
  let now = 1_000;
  const turn: Turn = {
    ...base,
    clock: { now: () => now },
    observe: { ...base.observe, inference: { ended: (call) => inferred.push(call), cutOff() {} } },
    agent: {
      ...base.agent,
      model: {
        ...base.agent.model,
        async stream(_request, sink) {
          now += 300;
          say(sink);
          now += 200;
          return end;
        },
      },
    },
  };
  return { turn, inferred };
};

for (const [what, say] of Object.entries<(sink: InferenceSink) => void>({
  'its text': (sink) => sink.text('hello'),
  'its thinking': (sink) => sink.reasoning('well'),
  'a call': (sink) => sink.toolStart('c', 'search'),
})) {
  t.test(`measures the time to the first output, which may be ${what}`, async (t) => {
    const { turn, inferred } = asking(say, { stop: 'EndTurn' });
    await infer(turn, never);
    t.match(inferred, [{ status: 'ok', firstSeconds: 0.3, seconds: 0.5 }]);
  });
}

t.test('reports the last requests of an inference that were repeated', async (t) => {
  const { turn } = asking(
    (sink) => {
      for (let n = 0; n < MOST_RETRIES + 2; n += 1) sink.retrying?.({ error: `failure ${n}`, wait_ms: n });
      sink.text('hello');
    },
    { stop: 'EndTurn' },
  );
  const events: RunEvent[] = [];
  const stream = { ...turn.stream, emit: (event: RunEvent) => void events.push(event) };
  await infer({ ...turn, stream }, never);
  const [complete] = events.filter((event) => event.event_type === 'inference_complete');
  t.match(complete, { first_output_ms: 300, duration_ms: 500 });
  t.equal(complete?.retries?.length, MOST_RETRIES);
  t.match(complete?.retries?.[0], { failed_at: 1300, error: 'failure 2', wait_ms: 2 });
});

t.test('omits the time to the first output of an empty completion', async (t) => {
  const { turn, inferred } = asking(() => {}, { stop: 'EndTurn' });
  await infer(turn, never);
  t.strictSame(
    inferred.map((call) => Object.keys(call).sort()),
    [['agent', 'model', 'provider', 'seconds', 'status']],
  );
});

t.test('counts the tokens that the provider reports, and otherwise none', async (t) => {
  const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
  const { turn } = asking((sink) => sink.text('one'), { stop: 'EndTurn', usage });
  await infer(turn, never);
  await infer(turn, never);
  t.match(turn, { inputTokens: 20, outputTokens: 40 });
  const silent = asking((sink) => sink.text('one'), { stop: 'EndTurn' });
  await infer(silent.turn, never);
  t.match(silent.turn, { inputTokens: 0, outputTokens: 0 });
});

t.test('calls run_start hooks once, before the first inference of the run', async (t) => {
  const { turn } = asking((sink) => sink.text('one'), { stop: 'EndTurn' });
  const called: string[] = [];
  const plugins = [{ id: 'p', parts: { hooks: { run_start: () => void called.push('run_start') } } }];
  turn.agent = { ...turn.agent, plugins };
  turn.started = false;
  await infer(turn, never);
  await infer(turn, never);
  t.strictSame(called, ['run_start']);
  await infer({ ...turn, started: true }, never);
  t.strictSame(called, ['run_start'], 'a continuation in another process does not call it');
});

t.test('stores a note of the model once after its step, hidden from clients', async (t) => {
  const { turn } = asking((sink) => sink.text('half'), { stop: 'EndTurn', note: 'a call was lost' });
  await infer(turn, never);
  await completeStep(turn, never);
  await completeStep(turn, never);
  t.strictSame(
    turn.produced.map(({ role, visibility, content }) => [role, visibility, textOf(content)]),
    [
      ['assistant', undefined, 'half'],
      ['user', 'internal', 'a call was lost'],
    ],
  );
});
