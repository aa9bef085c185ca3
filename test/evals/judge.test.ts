import t from 'tap';
import { createQuestion, judge, verdictIn } from '../../src/evals/judge.ts';
import type { Model } from '../../src/models/model.ts';
import { textOf } from '../../src/schema/message.ts';

/** The prompt of a judge, and the parsing of its verdict: evals-and-traces.md 5.4. */

t.test('parses a verdict from JSON, also in a fence, with a score between 0 and 1', async (t) => {
  t.strictSame(verdictIn('{"score": 0.4, "reasoning": "meh"}'), { score: 0.4, reasoning: 'meh' });
  t.strictSame(verdictIn('```json\n{"score": 1}\n```'), { score: 1, reasoning: undefined });
  t.strictSame(verdictIn('\n```\n{"score": 7, "reasoning": null, "more": 1}\n```\n'), {
    score: 1,
    reasoning: undefined,
  });
  t.equal(verdictIn('{"score": -3}').score, 0);
  for (const text of ['good', '{}', '{"score": "high"}', '{"score": 1e999}', '[1]', '0.5', '']) {
    t.throws(() => verdictIn(text), Error, text);
  }
});

t.test('sends the turns, the completion and the rubric to the judge, without tools', async (t) => {
  const session = { thread_id: 't', run_id: 'r' };
  const question = createQuestion({ inputs: ['One', 'Two'], answer: 'Three', rubric: 'Be kind.' }, session);
  t.match(question.system[0], /single JSON object.*score.*reasoning/);
  const [prompt, answer, instruction] = question.messages.map(({ role, content }) => [role, textOf(content)]);
  t.strictSame(prompt, ['user', 'Turn 1 (user): One\n\nTurn 2 (user): Two']);
  t.strictSame(answer, ['assistant', 'Three']);
  t.match(instruction, ['user', /Be kind\./]);
  t.strictSame(question.tools, []);
  const single = createQuestion({ inputs: ['One'], answer: '', rubric: 'x' }, session).messages;
  t.equal(textOf(single[0]?.content ?? []), 'One');
  t.not(textOf(single[1]?.content ?? []), '', 'no message is empty');
});

t.test('uses the later output after a reset, and no output without an end', async (t) => {
  const question = createQuestion(
    { inputs: ['One'], answer: 'x', rubric: 'y' },
    { thread_id: 't', run_id: 'r' },
  );
  const asking = (stream: Model['stream']) =>
    judge(
      { id: 'j', provider: 'p', upstream: 'j', stream },
      question,
      new AbortController().signal,
      () => {},
    );
  t.match(
    await asking(async (_request, sink) => {
      sink.text('{"score": 0');
      sink.reset?.('broken');
      sink.text('{"score": 0.5}');
      return { stop: 'EndTurn' };
    }),
    { score: 0.5 },
  );
  await t.rejects(
    asking(async (_request, sink) => {
      for (;;) sink.text('x'.repeat(1024 * 1024));
    }),
    /no end/,
  );
});

t.test('removes a fence in linear time, and accepts an incomplete one', async (t) => {
  for (const text of [
    '```json\n{"score":1}\n```',
    ' ```\n{"score":1}```\n',
    '```JSON  \n\n{"score":1}\n\n```\n',
  ])
    t.strictSame(verdictIn(text), { score: 1, reasoning: undefined });
  for (const text of ['```js on\n{"score":1}\n```', '```{"score":1}```', '```\n{"score":1}'])
    t.throws(() => verdictIn(text), { message: /did not answer with JSON/ });
  t.throws(() => verdictIn(`\`\`\`json\n${'\n'.repeat(2_000_000)}x`), {
    message: /did not answer with JSON/,
  });
});
