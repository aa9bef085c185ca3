import t from 'tap';
import { answerTo } from '../../../src/protocols/ai-sdk/answer.ts';
import { asks } from '../../service/models.ts';
import { says, sourceOf, startChat } from './live.ts';

/** chat-and-agui.md 5: a repeated question receives its completion. */

const asked = async (t: Parameters<typeof startChat>[0]) => {
  const { steps, send, store } = await startChat(t, 'full_fidelity');
  steps.push(asks(['c1', 'risky']), says('One', '.'));
  const { run_id } = await send('first');
  await send(undefined, [{ tool_call_id: 'c1', action: 'resume', payload: null }], { continues: run_id });
  const rows = [...sourceOf(store).run(run_id, 1)];
  const [question] = rows.flatMap(({ event }) =>
    event.event_kind === 'MessageCommitted' ? [String(event.payload.message_id)] : [],
  );
  return { rows, question: question ?? '' };
};

t.test('returns the completion of a question as one stream across suspensions', async (t) => {
  const { rows, question } = await asked(t);
  const frames = answerTo(question, rows).map(({ frame }) => frame);
  t.equal(frames.filter((frame) => frame.includes('"type":"start"')).length, 1);
  t.equal(frames.filter((frame) => frame.includes('"type":"finish"')).length, 1);
  t.match(frames.at(-1), /"type":"finish"|\[DONE\]/);
  t.match(frames.join(''), /"delta":"One"/);
});

t.test('returns no completion for a question outside the log of the run', async (t) => {
  const { rows } = await asked(t);
  t.strictSame(answerTo('of another run', rows), []);
});
