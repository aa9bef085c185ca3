import { type AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import t from 'tap';
import { z } from 'zod';
import { asks, type Inference } from '../../service/models.ts';
import { countRuns, startChat } from '../../service/openai/chat.ts';
import type { Troupe } from '../../service/troupe.ts';

/** LangChain over chat completions and responses. */

const modelOf = ({ url }: Troupe, model: string) =>
  new ChatOpenAI({ model, apiKey: 'unused', configuration: { baseURL: `${url}/v1` }, streamUsage: true });

const pick = tool(({ color }) => `picked ${color}`, {
  name: 'pick',
  description: 'Lets the user pick a color.',
  schema: z.object({ color: z.string() }),
});

t.test('invokes an agent, and reads its usage', async (t) => {
  const { troupe } = await startChat(t);
  const answer = await modelOf(troupe, 'echo').invoke([new HumanMessage('hi')]);
  t.equal(answer.text, 'echo: hi');
  t.match(answer.usage_metadata, { input_tokens: 10, output_tokens: 20, total_tokens: 30 });
});

t.test('streams an agent with its usage', async (t) => {
  const { troupe } = await startChat(t);
  let whole: AIMessageChunk | undefined;
  for await (const chunk of await modelOf(troupe, 'echo').stream('hi')) {
    whole = whole === undefined ? chunk : whole.concat(chunk);
  }
  t.equal(whole?.text, 'echo: hi');
  t.match(whole?.usage_metadata, { input_tokens: 10, output_tokens: 20 });
});

t.test('executes its tools, and continues the run with their results', async (t) => {
  const { troupe } = await startChat(t);
  troupe.models.steps.push(asks(['c1', 'pick', { color: 'red' }]));
  const bound = modelOf(troupe, 'steps').bindTools([pick]);
  const asked = await bound.invoke('Which color?');
  t.match(asked.tool_calls, [{ name: 'pick', args: { color: 'red' } }]);
  const [call] = asked.tool_calls ?? [];
  const result: unknown = await pick.invoke({ ...call, type: 'tool_call' } as never);
  t.ok(result instanceof ToolMessage);
  const answer = await bound.invoke([new HumanMessage('Which color?'), asked, result as ToolMessage]);
  t.equal(answer.text, 'echo: Which color?');
  t.equal(await countRuns(troupe), 1, 'the waiting run continued');
  const [, second] = troupe.models.requests;
  t.match(JSON.stringify(second?.request.messages), /picked red/);
});

t.test('parses a structured result', async (t) => {
  const { troupe } = await startChat(t);
  const Color = z.object({ color: z.string() });
  troupe.models.steps.push((sink) => {
    sink.text('{"color":"red"}');
    return { stop: 'EndTurn' };
  });
  const structured = modelOf(troupe, 'steps').withStructuredOutput(Color, { method: 'jsonSchema' });
  t.strictSame(await structured.invoke('Which color?'), { color: 'red' });
});

/** One service for all steps over responses. */
t.test('uses responses', async (t) => {
  const { troupe } = await startChat(t);
  const responsesOf = (model: string) =>
    new ChatOpenAI({
      model,
      apiKey: 'unused',
      configuration: { baseURL: `${troupe.url}/v1` },
      useResponsesApi: true,
    });
  const says =
    (text: string): Inference =>
    (sink) => {
      sink.text(text);
      return { stop: 'EndTurn' };
    };

  await t.test('streams with usage', async (t) => {
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await responsesOf('echo').stream('hi')) {
      whole = whole === undefined ? chunk : whole.concat(chunk);
    }
    t.equal(whole?.text, 'echo: hi');
    t.match(whole?.usage_metadata, { input_tokens: 10, output_tokens: 20 });
  });

  for (const way of ['invoke', 'stream'] as const) {
    await t.test(`executes its tools by ${way}, and the run continues (check 45)`, async (t) => {
      const runs = await countRuns(troupe);
      troupe.models.steps.push(asks(['c1', 'pick', { color: 'red' }]), says('done'));
      const bound = responsesOf('steps').bindTools([pick]);
      const question = new HumanMessage('Which color?');
      let asked: AIMessageChunk | undefined;
      if (way === 'invoke') asked = await bound.invoke([question]);
      else
        for await (const chunk of await bound.stream([question]))
          asked = asked === undefined ? chunk : asked.concat(chunk);
      t.match(asked?.tool_calls, [{ name: 'pick', args: { color: 'red' } }]);
      const [call] = asked?.tool_calls ?? [];
      const result: unknown = await pick.invoke({ ...call, type: 'tool_call' } as never);
      t.ok(asked && result instanceof ToolMessage);
      const history = asked ? [question, asked, result as ToolMessage] : [];
      const answer = await bound.invoke(history);
      t.equal(answer.text, 'done');
      const last = await responsesOf('echo').invoke([...history, answer, new HumanMessage('two')]);
      t.equal(last.text, 'echo: two');
      t.equal(await countRuns(troupe), runs + 2, 'the waiting run continued');
    });
  }

  await t.test('lists no call of the agent for execution (check 42)', async (t) => {
    troupe.models.steps.push(asks(['c1', 'note']), says('done'));
    const answer = await responsesOf('steps').invoke('Note it.');
    t.strictSame([answer.tool_calls, answer.text], [[], 'done']);
  });

  await t.test('parses a structured result (check 60)', async (t) => {
    troupe.models.steps.push(says('{"color":"red"}'));
    const Color = z.object({ color: z.string() });
    const structured = responsesOf('steps').withStructuredOutput(Color, { method: 'jsonSchema' });
    t.strictSame(await structured.invoke('Which color?'), { color: 'red' });
  });
});
