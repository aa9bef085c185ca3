import t from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { PAGE_BYTES } from '../../src/schema/page-rows.ts';
import { MOST_INPUT_MESSAGES } from '../../src/schema/recorded-inference.ts';
import type { EntriesInput } from '../../src/settings/index.ts';
import { only, say, says, startWith } from './agent-loop/agents.ts';
import { asks } from './models.ts';
import { createTestTools } from './tools.ts';
import { ADMIN_TOKEN, type Troupe } from './troupe.ts';

/** The input and the output of single inferences, and the requests that were repeated. */

const retry = { max_retries: 2, backoff_base_ms: 1, overloaded_backoff_base_ms: 1 };

const agents: EntriesInput['agents'] = [
  { id: 'own', model_id: 'steps', system_prompt: 'Be exact.', temperature: 0.5, sections: { retry } },
];

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

const inference = (troupe: Troupe, run: unknown, step: number | string) =>
  troupe.call('GET', `/v1/runs/${run}/inferences/${step}`, undefined, admin);

const textsOf = (body: unknown): string[] =>
  Object(body).messages.map((message: { role: string; content: { text?: string }[] }) =>
    `${message.role}: ${message.content.map(({ text }) => text).join('')}`.trim(),
  );

const overloaded = async (): Promise<never> => {
  throw new ModelError('overloaded', 'busy');
};

t.test('returns the prompt, the messages, the tools and the response of each inference', async (t) => {
  const troupe = await startWith(t, { agents });
  troupe.models.steps.push(says('earlier'));
  await troupe.runToEnd(say('own', 'first', 'T'));
  troupe.models.steps.push(asks(['c1', 'append_note', { note: 'n' }]), says('noted'));
  const [start] = await troupe.runToEnd(say('own', 'second', 'T'));
  const asked = await inference(troupe, start?.run_id, 0);
  t.match(asked, {
    status: 200,
    body: {
      agent_id: 'own',
      system: 'Be exact.',
      settings: { temperature: 0.5 },
      omitted_messages: 0,
      response: { role: 'assistant', tool_calls: [{ name: 'append_note', arguments: { note: 'n' } }] },
    },
  });
  t.strictSame(textsOf(asked.body), ['user: first', 'assistant: earlier', 'user: second']);
  t.match(
    Object(asked.body).tools.find(({ id }: { id: string }) => id === 'append_note'),
    { description: /./, parameters: { type: 'object' } },
  );
  const answered = await inference(troupe, start?.run_id, 1);
  t.match(answered.body, { response: { content: [{ text: 'noted' }] } });
  t.equal(textsOf(answered.body).length, 5, 'the second inference received the call and its result');

  // The publication of the run, not the current one.
  const changed = { id: 'own', model_id: 'steps', system_prompt: 'Be quick.' };
  await troupe.call('PUT', '/v1/config/agents/own', changed, admin);
  t.match((await inference(troupe, start?.run_id, 1)).body, { system: 'Be exact.' });

  t.match(await inference(troupe, start?.run_id, 2), { status: 404, body: { error: /no inference 2/ } });
  t.match(await inference(troupe, 'unknown', 0), { status: 404 });
  t.match(await inference(troupe, start?.run_id, 'x'), { status: 404 });
  t.match(await troupe.call('GET', `/v1/runs/${start?.run_id}/inferences/0`), { status: 401 });
});

t.test('limits the messages of a long thread', async (t) => {
  const troupe = await startWith(t, { agents });
  const messages = Array.from({ length: MOST_INPUT_MESSAGES + 5 }, (_, at) => ({
    role: 'user',
    content: `m${at}`,
  }));
  troupe.models.steps.push(says('seen'));
  const [start] = await troupe.runToEnd({ agentId: 'own', threadId: 'T', messages });
  const { body } = await inference(troupe, start?.run_id, 0);
  t.equal(textsOf(body).length, MOST_INPUT_MESSAGES);
  t.equal(textsOf(body).at(-1), `user: m${MOST_INPUT_MESSAGES + 4}`);
  t.equal(Object(body).omitted_messages, 5);
});

t.test('limits the size of the messages', async (t) => {
  const troupe = await startWith(t, { agents });
  const messages = ['a', 'b', 'c'].map((letter) => ({
    role: 'user',
    content: letter.repeat(PAGE_BYTES * 0.4),
  }));
  troupe.models.steps.push(says('seen'));
  const [start] = await troupe.runToEnd({ agentId: 'own', threadId: 'T', messages });
  const { body } = await inference(troupe, start?.run_id, 0);
  t.strictSame(
    textsOf(body).map((text) => text.slice(0, 7)),
    ['user: b', 'user: c'],
  );
  t.equal(Object(body).omitted_messages, 1);
});

t.test('returns no inference after that of a run that waits', async (t) => {
  const troupe = await startWith(t, { agents, tools: createTestTools().tools });
  troupe.models.steps.push(asks(['c1', 'pick_color']));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(events.at(-1), { termination: { type: 'suspended' } });
  t.equal((await inference(troupe, events[0]?.run_id, 0)).status, 200);
  t.equal((await inference(troupe, events[0]?.run_id, 1)).status, 404);
});

t.test('describes files instead of returning them', async (t) => {
  const troupe = await startWith(t, { agents });
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
  troupe.models.steps.push(says('seen'));
  const messages = [{ role: 'user', content: [{ type: 'image', source }] }];
  const [start] = await troupe.runToEnd({ agentId: 'own', threadId: 'T', messages });
  const { body } = await inference(troupe, start?.run_id, 0);
  t.match(body, { messages: [{ content: [{ type: 'image', source: { data: /^\[image image\/png/ } }] }] });
});

t.test('returns the input of a failed inference, and reports its repeated requests', async (t) => {
  const troupe = await startWith(t, { agents });
  troupe.models.steps.push(overloaded, says('at last'));
  const recovered = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(only(recovered, 'inference_complete'), [
    { retries: [{ failed_at: Number, error: /busy/, wait_ms: Number }], first_output_ms: Number },
  ]);
  const denied = async (): Promise<never> => {
    throw new ModelError('unauthorized', 'bad key');
  };
  troupe.models.steps.push(overloaded, denied);
  const failed = await troupe.runToEnd(say('own', 'y', 'T'));
  t.match(failed.at(-1), {
    event_type: 'run_finish',
    termination: { type: 'error', value: /bad key/ },
    retries: [{ error: /busy/ }],
  });
  const { body } = await inference(troupe, failed[0]?.run_id, 0);
  t.match(body, { response: null });
  t.strictSame(textsOf(body), ['user: x', 'assistant: at last', 'user: y']);
});
