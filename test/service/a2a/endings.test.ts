import t, { type Test } from 'tap';
import { z } from 'zod';
import { NO_RECORDS } from '../../../src/configuration/records.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { pluginOf } from '../agent-loop/agents.ts';
import { asks, type Inference } from '../models.ts';
import { eventually } from '../troupe.ts';
import { a2aFor, textOf } from './tasks-client.ts';

/** Endings of tasks other than plain completion (a2a.md 8.1; 19: 23, 30). */

const strict = pluginOf('strict', { gate: () => ({ kind: 'block', reason: 'not today' }) });

/** A background task, and whether it was aborted. */
const background = () => {
  const told: boolean[] = [];
  const work = defineTool({
    id: 'work',
    description: 'Starts a task.',
    input: z.object({}),
    execute(_, { tasks }) {
      const index = told.push(false) - 1;
      tasks?.start({
        run: (signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              told[index] = true;
              reject(signal.reason);
            });
          }),
      });
      return { data: 'started' };
    },
  });
  return { work, told };
};

const start = (t: Test) => {
  const { work, told } = background();
  const agents = [
    { id: 'blocked', model_id: 'steps', plugin_ids: ['strict'] },
    { id: 'stopped', model_id: 'steps', stop_conditions: [{ type: 'stop_on_tool', tool_name: 'note' }] },
    { id: 'worker', model_id: 'steps', plugin_ids: ['background_tasks'] },
    { id: 'boss', model_id: 'steps', delegates: ['worker', 'slow'] },
  ].map((agent) => AgentSpec.parse(agent));
  const app = { tools: [work], plugins: [strict], records: { ...NO_RECORDS, agents } };
  return a2aFor(t, { app }).then((client) => ({ ...client, told }));
};

const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

t.test('rejects a task with the reason when its call is blocked', async (t) => {
  const { send, troupe } = await start(t);
  troupe.models.steps.push(asks(['c1', 'note']));
  const { status, artifacts } = await send({ tenant: 'blocked' });
  t.equal(status.state, 'TASK_STATE_REJECTED');
  t.equal(status.message && textOf(status.message), 'not today');
  t.notOk(artifacts);
});

t.test('completes a task with the text so far when a condition stops it', async (t) => {
  const { send, troupe } = await start(t);
  troupe.models.steps.push((sink, ...rest) => {
    sink.text('so far');
    return asks(['c1', 'note'])(sink, ...rest);
  });
  const task = await send({ tenant: 'stopped' });
  t.equal(task.status.state, 'TASK_STATE_COMPLETED');
  t.match(task.artifacts, [{ artifactId: 'response', parts: [{ text: 'so far' }] }]);
});

t.test('shows a task with background work as working, and cancels the work with it', async (t) => {
  const { begin, ask, get, told, troupe } = await start(t);
  troupe.models.steps.push(asks(['c1', 'work']), says('started'));
  const { id } = await begin({ tenant: 'worker' });
  const runOf = async () => (await troupe.call('GET', `/v1/runs/${id}`)).body;
  await eventually(runOf, ({ status }) => status === 'waiting');
  t.equal((await get(id)).status.state, 'TASK_STATE_WORKING');
  t.equal((await ask({ taskId: id })).status, 400, 'the task does not accept input');
  t.strictSame(told, [false]);
  const { status } = await troupe.post(`/v1/a2a/tasks/${id}:cancel`);
  t.equal(status, 200);
  t.equal((await get(id)).status.state, 'TASK_STATE_CANCELED');
  await eventually(
    async () => told,
    ([stopped]) => stopped === true,
  );
});

t.test('cancels the called agents of a task and their background work with it', async (t) => {
  const { begin, get, told, troupe } = await start(t);
  troupe.models.steps.push(
    asks(['c1', 'agent_run_worker', { prompt: 'go' }], ['c2', 'agent_run_slow', { prompt: 'go' }]),
    asks(['c3', 'work']),
    says('started'),
  );
  const { id } = await begin({ tenant: 'boss' });
  await eventually(
    async () => troupe.models.waiting() + told.length,
    (count) => count === 2,
  );
  t.equal((await troupe.post(`/v1/a2a/tasks/${id}:cancel`)).status, 200);
  await eventually(
    () => get(id),
    ({ status }) => status.state === 'TASK_STATE_CANCELED',
  );
  await eventually(
    async () => [told, troupe.models.waiting()],
    (now) => JSON.stringify(now) === '[[true],0]',
  );
  const { items } = (await troupe.call('GET', '/v1/runs')).body as { items: { status: string }[] };
  t.equal(items.length, 3);
  t.ok(items.every(({ status }) => status === 'done'));
});
