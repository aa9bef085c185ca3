import t from 'tap';
import { count, counted, newTally, spentTokens } from '../../src/evals/tally.ts';
import type { TraceFact } from '../../src/loop/trace-fact.ts';

/** The reported usage of a replay (evals-and-traces.md 5.6). */

const inference = (more: object): TraceFact => ({
  type: 'inference',
  seconds: 1,
  step_index: 0,
  model: 'm',
  provider: 'p',
  request: undefined,
  sent: undefined,
  end: undefined,
  error: undefined,
  content: [],
  calls: [],
  cut_off: undefined,
  cost_usd: undefined,
  ...more,
});

const cut_off = { input_tokens: 7, output_tokens: 2, estimated: true };

t.test('reports tokens of broken attempts separately, and counts them as spent', async (t) => {
  const tally = newTally();
  const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
  count(tally, 'a', inference({ end: { stop: 'EndTurn', usage }, cut_off }));
  count(tally, 'a', inference({ error: { type: 'timeout', isTransient: true }, cut_off }));
  t.match(counted(tally), {
    inference_count: 1,
    total_input_tokens: 10,
    total_output_tokens: 20,
    total_tokens: 30,
    cut_off: { input_tokens: 14, output_tokens: 4, estimated: true },
  });
  t.equal(spentTokens(tally), 48);
});

t.test('reports nothing without broken attempts', async (t) => {
  t.notOk('cut_off' in counted(newTally()));
});
