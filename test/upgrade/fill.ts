import { ModelError } from '../../src/models/errors.ts';
import { asks } from '../service/models.ts';
import { resume } from '../service/suspended.ts';
import { eventually } from '../service/troupe.ts';
import type { Place } from './place.ts';

/** Creates data of every kind that a service stores: runs in every state, configuration, evals, addresses. */

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

/** Runs that have ended, each in a different way. */
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
  models.steps.push(asks(['b1', 'forbidden']));
  await client.runToEnd({ agentId: 'steps', threadId: 'blocked', messages: say('Do it') });
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

/** Runs that an upgrade finds in each state without an end, executing or not. */
const leaveRuns = async (place: Place): Promise<void> => {
  await leaveWaiting(place);
  await leaveAnswered(place);
  await leaveExecuting(place);
};

/** One run for each kind of wait. */
const leaveWaiting = async ({ client, models }: Place): Promise<void> => {
  models.steps.push(asks(['risk', 'risky']));
  const [start] = await client.runToEnd({ agentId: 'steps', threadId: 'waits', messages: say('Risk it') });
  const path = `/v1/a2a/tasks/${start?.run_id}/pushNotificationConfigs`;
  await expecting(200, client.post(path, HOOK));
  models.steps.push(asks(['color', 'pick_color']));
  await client.runToEnd({ agentId: 'steps', threadId: 'asks', messages: say('Pick') });
  models.steps.push(asks(['in', 'login']));
  await client.runToEnd({ agentId: 'steps', threadId: 'logs-in', messages: say('Log in') });
  models.steps.push(asks(['task', 'work']), (sink) => {
    sink.text('started');
    return { stop: 'EndTurn' };
  });
  await client.runToEnd({ agentId: 'worker', threadId: 'works', messages: say('Work') });
};

/** A run whose decision was accepted while another run executes on its thread. */
const leaveAnswered = async ({ client, models }: Place): Promise<void> => {
  models.steps.push(asks(['later', 'risky']));
  await client.runToEnd({ agentId: 'steps', threadId: 'answered', messages: say('Risk it') });
  const input = { agentId: 'slow', messages: say('Meanwhile') };
  await expecting(202, client.post('/v1/threads/answered/messages', input));
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 1,
  );
  await expecting(202, client.post('/v1/threads/answered/decision', resume('later')));
};

/**
 * Runs that execute: during an inference, with a pending message and a queued run; during a call; and during a call
 * that a decision has permitted.
 */
const leaveExecuting = async ({ client, models, tools }: Place): Promise<void> => {
  models.steps.push(asks(['held', 'hold']));
  await client.run({ agentId: 'steps', threadId: 'acts', messages: say('Act') });
  models.steps.push(asks(['guard', 'guarded']));
  await client.runToEnd({ agentId: 'steps', threadId: 'decides', messages: say('Guard') });
  await expecting(202, client.post('/v1/threads/decides/decision', resume('guard')));
  await eventually(
    async () => tools.holding(),
    (holding) => holding.length === 2,
  );
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
