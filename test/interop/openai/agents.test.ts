import {
  Agent,
  type AgentInputItem,
  handoff,
  hostedMcpTool,
  MemorySession,
  OpenAIConversationsSession,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import OpenAI from 'openai';
import t from 'tap';
import { z } from 'zod';
import { asks, type Inference } from '../../service/models.ts';
import { countRuns, startChat } from '../../service/openai/chat.ts';

/** The OpenAI Agents SDK over responses. */

setTracingDisabled(true);

/** The SDK listens to the process from its import on. */
t.teardown(() => {
  const added = process.listeners('unhandledRejection').at(-1);
  if (added) process.off('unhandledRejection', added);
});

const { troupe, tools } = await startChat(t);
const client = new OpenAI({ baseURL: `${troupe.url}/v1`, apiKey: 'unused' });
const modelOf = (name: string) => new OpenAIResponsesModel(client, name);
const agentOf = (model: string, more: Partial<ConstructorParameters<typeof Agent>[0]> = {}) =>
  new Agent({ name: 'caller', model: modelOf(model), ...more });

const pick = tool({
  name: 'pick',
  description: 'Lets the user pick a color.',
  parameters: z.object({ color: z.string() }),
  execute: async ({ color }) => `picked ${color}`,
});

const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

/** The thread of a response. */
const threadOf = async (response_id: string | undefined): Promise<string> => {
  const { conversation } = await client.responses.retrieve(response_id ?? '');
  return conversation?.id ?? '';
};

t.test('runs an agent, and streams one', async (t) => {
  const result = await run(agentOf('echo', { instructions: 'Be brief.' }), 'hi');
  t.equal(result.finalOutput, 'echo: hi');
  const streamed = await run(agentOf('echo'), 'hi', { stream: true });
  let text = '';
  for await (const part of streamed.toTextStream()) text += part;
  t.equal(text, 'echo: hi');
  await streamed.completed;
});

for (const stream of [false, true]) {
  t.test(`executes a function tool, stream ${stream}, and the run continues (check 45)`, async (t) => {
    const runs = await countRuns(troupe);
    troupe.models.steps.push(asks(['c1', 'pick', { color: 'red' }]), says('done'));
    const agent = agentOf('steps', { tools: [pick] });
    // The overloads of the SDK differ by this option.
    const result = stream ? await run(agent, 'a', { stream: true }) : await run(agent, 'a');
    if ('completed' in result) await result.completed;
    t.equal(result.finalOutput, 'done');
    t.equal(await countRuns(troupe), runs + 1);
    t.match(JSON.stringify(troupe.models.requests.at(-1)?.request.messages), /picked red/);
  });

  t.test(`a call of the agent does not stop the run, stream ${stream} (check 42)`, async (t) => {
    troupe.models.steps.push(asks(['c1', 'note']), says('done'));
    const agent = agentOf('steps');
    const result = stream ? await run(agent, 'a', { stream: true }) : await run(agent, 'a');
    if ('completed' in result) await result.completed;
    t.equal(result.finalOutput, 'done');
    t.match(
      result.newItems.map(({ rawItem }) => rawItem),
      [{ type: 'hosted_tool_call', output: '"did c1"', providerData: { name: 'note' } }, { type: 'message' }],
    );
  });
}

t.test('continues the thread of previousResponseId, and of conversationId', async (t) => {
  const first = await run(agentOf('echo'), 'one');
  const previousResponseId = first.lastResponseId;
  const second = await run(agentOf('echo'), 'two', { ...(previousResponseId && { previousResponseId }) });
  t.equal(second.finalOutput, 'echo: two');
  const thread = await threadOf(previousResponseId);
  t.equal(await threadOf(second.lastResponseId), thread);
  const third = await run(agentOf('echo'), 'three', { conversationId: thread });
  t.equal(await threadOf(third.lastResponseId), thread);
  const { data } = await client.conversations.items.list(thread, { order: 'asc' });
  t.equal(data.length, 6);
});

t.test('keeps the history in a session of the client, and in a conversation', async (t) => {
  const session = new MemorySession();
  const first = await run(agentOf('echo'), 'one', { session });
  const second = await run(agentOf('echo'), 'two', { session });
  t.equal(await threadOf(second.lastResponseId), await threadOf(first.lastResponseId));
  const kept = new OpenAIConversationsSession({ client });
  await run(agentOf('echo'), 'one', { session: kept });
  const last = await run(agentOf('echo'), 'two', { session: kept });
  t.equal(last.finalOutput, 'echo: two');
  const items = await kept.getItems();
  t.match(JSON.stringify(items), /one.*echo: one.*two.*echo: two/);
});

t.test('continues the thread of the whole history, unless an answer was changed (check 49)', async (t) => {
  const first = await run(agentOf('echo'), 'one');
  const history: AgentInputItem[] = [...first.history, { role: 'user', content: 'two' }];
  const second = await run(agentOf('echo'), history);
  const thread = await threadOf(first.lastResponseId);
  t.equal(await threadOf(second.lastResponseId), thread);
  const changed: AgentInputItem[] = JSON.parse(JSON.stringify(history).replace('echo: one', 'other'));
  const third = await run(agentOf('echo'), changed);
  t.equal(third.finalOutput, 'echo: two');
  const other = await threadOf(third.lastResponseId);
  t.not(other, thread);
  t.match(JSON.stringify((await client.conversations.items.list(other)).data), /other/);
});

const hosted = hostedMcpTool({ serverLabel: 'troupe', serverUrl: 'unused', requireApproval: 'always' });

for (const approved of [true, false]) {
  t.test(`${approved ? 'approves' : 'rejects'} a call of the agent, and resumes (check 46)`, async (t) => {
    const [runs, calls] = [await countRuns(troupe), tools.executed.length];
    troupe.models.steps.push(asks(['c1', 'risky']), says('done'));
    const agent = agentOf('steps', { tools: [hosted] });
    const asked = await run(agent, 'Risk it.');
    t.equal(asked.interruptions.length, 1);
    const [interruption] = asked.interruptions;
    if (!interruption) throw new Error('no approval was requested');
    if (approved) asked.state.approve(interruption);
    else asked.state.reject(interruption);
    const result = await run(agent, asked.state);
    t.equal(result.finalOutput, 'done');
    t.equal(tools.executed.length, calls + (approved ? 1 : 0));
    t.equal(await countRuns(troupe), runs + 1, 'the same run continued');
  });
}

t.test('hands off between two agents of the service', async (t) => {
  const target = new Agent({ name: 'target', model: modelOf('echo') });
  const agent = agentOf('steps', { handoffs: [handoff(target)] });
  troupe.models.steps.push(asks(['c1', 'transfer_to_target', {}]));
  const result = await run(agent, 'hi');
  t.equal(result.lastAgent?.name, 'target');
  t.equal(result.finalOutput, 'echo: hi');
  const { model, request } = troupe.models.requests.at(-1) ?? {};
  t.equal(model, 'echo');
  t.match(JSON.stringify(request?.messages), /transfer_to_target.*assistant.*target/);
});
