import t from 'tap';
import { askModel } from '../../src/loop/ask-model.ts';
import type { LoopObserver, Turn } from '../../src/loop/turn.ts';
import { ModelError } from '../../src/models/errors.ts';
import type { Model } from '../../src/models/model.ts';
import { scene } from './turn.ts';

/** Requests of a tool to the model of its agent, outside the conversation (mcp.md B6, sampling). */

type Inferred = Parameters<LoopObserver['inference']['ended']>[0];

const asking = (stream: Model['stream']) => {
  const { turn: base } = scene({});
  const inferred: Inferred[] = [];
  const turn: Turn = {
    ...base,
    observe: { ...base.observe, inference: { ended: (call) => inferred.push(call), cutOff() {} } },
    agent: { ...base.agent, model: { ...base.agent.model, stream } },
  };
  const question = {
    system: undefined,
    messages: [{ role: 'user' as const, text: 'What now?' }],
    temperature: undefined,
    max_tokens: undefined,
  };
  return { turn, inferred, ask: () => askModel(turn, question, new AbortController().signal) };
};

t.test('returns the completion of the model, and counts it for the run', async (t) => {
  const { turn, inferred, ask } = asking(async (_, sink) => {
    sink.text('wrong');
    sink.reset?.('again');
    sink.text('right');
    return { stop: 'EndTurn', usage: { prompt_tokens: 3, completion_tokens: 5 } };
  });
  t.match(await ask(), { text: 'right', stop: 'EndTurn' });
  t.strictSame([turn.inputTokens, turn.outputTokens], [3, 5]);
  t.match(inferred, [{ status: 'ok' }]);
});

t.test('counts a failed request', async (t) => {
  const { inferred, ask } = asking(async () => {
    throw new ModelError('overloaded', 'later');
  });
  await t.rejects(ask(), { message: /later/ });
  t.match(inferred, [{ status: 'error', errorClass: 'overloaded' }]);
  t.equal(inferred.length, 1);
});
