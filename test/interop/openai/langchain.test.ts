import { type AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import t from 'tap';
import { z } from 'zod';
import { asks } from '../../service/models.ts';
import { countRuns, startChat } from '../../service/openai/chat.ts';
import type { Troupe } from '../../service/troupe.ts';

/** LangChain over chat completions. */

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
