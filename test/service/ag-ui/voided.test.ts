import t, { type Test } from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { VERSIONS } from '../../protocols/ag-ui/client.ts';
import { says, startWith } from '../agent-loop/agents.ts';
import { asks, type Inference } from '../models.ts';
import type { Item } from './ag-ui.ts';

/** An official client holds what the service has stored after an interrupted inference. */

const retry = { max_retries: 0, backoff_base_ms: 1, max_stream_retries: 2 };

const breaksOff =
  (say: (sink: Parameters<Inference>[0]) => void): Inference =>
  (sink) => {
    say(sink);
    throw new ModelError('stream_interrupted', 'connection reset');
  };

/** Fails the run attempt rather than only the stream, so the run is retried. */
const failsBehind =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    throw new ModelError('overloaded', 'busy');
  };

const halfCall: Inference = breaksOff((sink) => {
  sink.toolStart('half', 'append_note');
  sink.toolDelta('half', '{"no');
});

const textAndHalfCall: Inference = breaksOff((sink) => {
  sink.text('The capital ');
  sink.toolStart('half', 'append_note');
  sink.toolDelta('half', '{"no');
});

const notes = (id: string): Inference => asks([id, 'append_note', { note: 'n' }]);

const cases: [name: string, first: Inference[], answer: string][] = [
  ['half a call', [halfCall, says('Paris.')], 'Paris.'],
  ['half a text', [failsBehind('The capital is Par'), says('Rome.')], 'Rome.'],
  ['half a text that the retry repeats', [failsBehind('The capital'), says('The capital.')], 'The capital.'],
  ['half a call after text', [textAndHalfCall, says('is Paris.')], 'The capital is Paris.'],
];

/** Two earlier turns: one with a tool, and one without. */
const conversation = async (t: Test, Agent: (typeof VERSIONS)[number], steps: Inference[]) => {
  const sections = { retry };
  const troupe = await startWith(t, { agents: [{ id: 'own', model_id: 'steps', max_rounds: 6, sections }] });
  const agent = new Agent({ url: `${troupe.url}/v1/ag-ui/agents/own/runs`, threadId: 'T' });
  const ask = async (id: string, ...inferences: Inference[]) => {
    troupe.models.steps.push(...inferences);
    agent.addMessage({ id, role: 'user', content: id });
    await agent.runAgent();
  };
  await ask('u1', notes('c1'), says('noted'));
  await ask('u2', says('fine'));
  await ask('u3', notes('c3'), ...steps);
  const { body } = await troupe.call('GET', '/v1/ag-ui/threads/T/messages');
  // The response schema of the route.
  return { held: agent.messages, stored: body.messages as Item[] };
};

for (const [index, Agent] of VERSIONS.entries()) {
  for (const [name, steps, answer] of cases) {
    t.test(`client ${index}: ${name} is retracted`, async (t) => {
      const { held, stored } = await conversation(t, Agent, steps);
      const ids = (messages: { id: string; role: string }[]) => messages.map(({ id, role }) => [role, id]);
      t.strictSame(ids(held), ids(stored));
      t.match(held.at(-1), { role: 'assistant', content: answer });
      const asked = held.flatMap((message) =>
        message.role === 'assistant' ? (message.toolCalls ?? []) : [],
      );
      t.strictSame(
        asked.map(({ id }) => id),
        ['c1', 'c3'],
      );
    });
  }
}

t.test('keeps the result of a client tool with its id, and retracts broken output after it', async (t) => {
  const troupe = await startWith(t, {
    agents: [{ id: 'own', model_id: 'steps', max_rounds: 6, sections: { retry } }],
  });
  for (const [index, Agent] of VERSIONS.entries()) {
    const agent = new Agent({ url: `${troupe.url}/v1/ag-ui/agents/own/runs`, threadId: `T${index}` });
    const tools = [{ name: 'ask_user', description: 'Asks.', parameters: { type: 'object' } }];
    troupe.models.steps.push(asks(['c1', 'ask_user']));
    agent.addMessage({ id: 'u1', role: 'user', content: 'x' });
    await agent.runAgent({ tools });
    troupe.models.steps.push(notes('c2'), failsBehind('The capital is Par'), says('Rome.'));
    agent.addMessage({ id: 'mine', role: 'tool', toolCallId: 'c1', content: '42' });
    await agent.runAgent({ tools });
    t.match(agent.messages, [
      { id: 'u1' },
      { toolCalls: [{ id: 'c1' }] },
      { id: 'mine', content: '42' },
      { toolCalls: [{ id: 'c2' }] },
      { role: 'tool', toolCallId: 'c2' },
      { role: 'assistant', content: 'Rome.' },
    ]);
    t.equal(agent.messages.length, 6);
  }
});
