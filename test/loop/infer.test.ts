import t from 'tap';
import { infer } from '../../src/loop/infer.ts';
import { completeStep } from '../../src/loop/step.ts';
import type { LoopObserver, Turn } from '../../src/loop/turn.ts';
import type { InferenceEnd, InferenceSink } from '../../src/models/model.ts';
import { textOf } from '../../src/schema/message.ts';
import { scene } from './turn.ts';

/** agent-loop.md 6: one answer of a model, and what is counted and kept of it. */

type Inferred = Parameters<LoopObserver['inference']['ended']>[0];

const never = new AbortController().signal;

/** A turn whose model says this, 300 ms after it was asked and 200 ms before it ends. */
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
  t.test(`the first thing that is heard of an answer may be ${what}`, async (t) => {
    const { turn, inferred } = asking(say, { stop: 'EndTurn' });
    await infer(turn, never);
    t.match(inferred, [{ status: 'ok', firstSeconds: 0.3, seconds: 0.5 }]);
  });
}

t.test('an answer in which nothing is heard has no time of its first thing', async (t) => {
  const { turn, inferred } = asking(() => {}, { stop: 'EndTurn' });
  await infer(turn, never);
  t.strictSame(
    inferred.map((call) => Object.keys(call).sort()),
    [['agent', 'model', 'provider', 'seconds', 'status']],
  );
});

t.test('tokens are counted as the provider says, and as none where it says nothing', async (t) => {
  const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
  const { turn } = asking((sink) => sink.text('one'), { stop: 'EndTurn', usage });
  await infer(turn, never);
  await infer(turn, never);
  t.match(turn, { inputTokens: 20, outputTokens: 40 });
  const silent = asking((sink) => sink.text('one'), { stop: 'EndTurn' });
  await infer(silent.turn, never);
  t.match(silent.turn, { inputTokens: 0, outputTokens: 0 });
});

t.test('hooks of the start of a run are called before its first inference, and not again', async (t) => {
  const { turn } = asking((sink) => sink.text('one'), { stop: 'EndTurn' });
  const called: string[] = [];
  const plugins = [{ id: 'p', parts: { hooks: { run_start: () => void called.push('run_start') } } }];
  turn.agent = { ...turn.agent, plugins };
  turn.begun = false;
  await infer(turn, never);
  await infer(turn, never);
  t.strictSame(called, ['run_start']);
  await infer({ ...turn, begun: true }, never);
  t.strictSame(called, ['run_start'], 'nor in another process');
});

t.test('a note of the model stands behind its step once, for nobody but the next answer', async (t) => {
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
