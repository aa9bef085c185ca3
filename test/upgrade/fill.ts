import { ModelError } from '../../src/models/errors.ts';
import { asks } from '../service/models.ts';
import { eventually } from '../service/troupe.ts';
import type { Place } from './place.ts';

/** Something of everything that a service keeps: runs in every state, configuration, evaluations, addresses. */

const say = (text: string) => [{ role: 'user', content: text }];

const expecting = async (status: number, answer: Promise<{ status: number; body: unknown }>) => {
  const { status: actual, body } = await answer;
  if (actual !== status) throw new Error(`${actual}: ${JSON.stringify(body)}`);
  return body;
};

export const fill = async (place: Place): Promise<void> => {
  await configure(place);
  await endRuns(place);
  await evaluate(place);
  await leaveRuns(place);
};

const PROVIDER = { id: 'own', adapter: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: 'sk-secret' };

const configure = async ({ admin }: Place): Promise<void> => {
  const config = (method: string, path: string, body: object, status: number) =>
    expecting(status, admin(method, `/v1/config/${path}`, body));
  await config('POST', 'providers', PROVIDER, 201);
  await config('POST', 'models', { id: 'own', provider_id: 'own', upstream_model: 'gpt' }, 201);
  await config('POST', 'agents', { id: 'short', model_id: 'steps', max_rounds: 1 }, 201);
  await config(
    'PUT',
    'agents/short',
    { id: 'short', model_id: 'steps', max_rounds: 1, system_prompt: 'Hi' },
    200,
  );
  await config('PATCH', 'agents/echo/overrides', { system_prompt: 'Be brief.' }, 200);
};

/** Those that have ended, each in its way. */
const endRuns = async ({ client, models }: Place): Promise<void> => {
  await client.runToEnd({ agentId: 'echo', threadId: 'talk', messages: say('Hello') });
  await client.runToEnd({ agentId: 'echo', threadId: 'talk', messages: say('Again') });
  models.steps.push(asks(['n1', 'note']));
  await client.runToEnd({ agentId: 'short', threadId: 'stopped', messages: say('Use a tool') });
  models.failures.push(new ModelError('unauthorized', 'no'));
  await client.runToEnd({ agentId: 'flaky', threadId: 'failed', messages: say('Fail') });
  const run = await client.run({ agentId: 'slow', threadId: 'cancelled', messages: say('Slow') });
  const { run_id } = await run.until('run_start');
  await run.until('text_delta');
  await expecting(202, client.post(`/v1/runs/${run_id}/cancel`));
  await run.rest();
};

const FIXTURE = {
  id: 'hello',
  user_input: 'Say hello',
  mock_response: { kind: 'text', text: 'hello' },
  expect: { final_answer_contains: ['hello'] },
};

const evaluate = async ({ admin }: Place): Promise<void> => {
  await expecting(
    201,
    admin('POST', '/v1/eval/datasets', { id: 'greetings', spec: { fixtures: [FIXTURE] } }),
  );
  await expecting(200, admin('POST', '/v1/eval/runs', { dataset_id: 'greetings' }));
};

const HOOK = { url: 'http://127.0.0.1:9/hook', token: 'token-of-the-hook' };

/** Those that an upgrade finds: one waits, one executes and has a message to come, one is queued behind it. */
const leaveRuns = async ({ client, models }: Place): Promise<void> => {
  models.steps.push(asks(['risk', 'risky']));
  const [start] = await client.runToEnd({ agentId: 'steps', threadId: 'waits', messages: say('Risk it') });
  const path = `/v1/a2a/tasks/${start?.run_id}/pushNotificationConfigs`;
  await expecting(200, client.post(path, HOOK));
  const run = await client.run({ agentId: 'slow', threadId: 'executes', messages: say('Begin') });
  await run.until('text_delta');
  const input = (body: object) => expecting(202, client.post('/v1/threads/executes/messages', body));
  await input({ agentId: 'slow', mode: 'steer', messages: say('Also') });
  await input({ agentId: 'echo', messages: say('Next') });
  await eventually(
    () => client.call('GET', '/v1/threads/executes/mailbox'),
    ({ body }) => JSON.stringify(body).includes('Queued'),
  );
};
