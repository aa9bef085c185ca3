import t from 'tap';
import { z } from 'zod';
import { ModelError } from '../../src/models/errors.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { eventually, startDemo } from './troupe.ts';

/** Graceful stop, and how the next start continues unfinished work (runtime.md 16, 17, 18.2). */

const say = (agentId: string, content = 'x') => ({
  agentId,
  threadId: 'T',
  messages: [{ role: 'user', content }],
});

const settledRun = (call: (method: string, path: string) => Promise<{ body: Record<string, unknown> }>) =>
  eventually(
    async () => (await call('GET', '/v1/threads/T/runs/latest')).body,
    (run) => run.status === 'done',
  );

t.test('waits for executing runs', async (t) => {
  const { run, app, models } = await startDemo(t, { settings: { shutdown_timeout_ms: 60_000 } });
  const stream = await run(say('slow'));
  await stream.until('text_delta');
  const stopped = app.stop();
  models.release();
  t.match((await stream.rest()).at(-1), { termination: { type: 'natural_end' } });
  await stopped;
});

t.test('does not wait for a run that is waiting for its next attempt', async (t) => {
  const patient = {
    mailbox: { retry_base_ms: 600_000, retry_cap_ms: 600_000 },
    shutdown_timeout_ms: 600_000,
  };
  const { run, app, models, restart, call } = await startDemo(t, { settings: patient });
  models.failures.push(new ModelError('overloaded', 'busy'));
  const stream = await run(say('flaky'));
  await stream.until('stream_reset');
  await eventually(
    async () => (await call('GET', '/v1/threads/T/mailbox')).body.items,
    (items) => JSON.stringify(items).includes('"Queued"'),
  );
  const stopped = app.stop();
  t.match((await stream.rest()).at(-1), {
    termination: { type: 'error', value: 'service is shutting down' },
  });
  await stopped;
  await restart();
  t.match(await settledRun(call), { termination_reason: { type: 'natural_end' } });
});

t.test('does not wait for a provider that requests a delay', async (t) => {
  const agents = [
    AgentSpec.parse({ id: 'patient', model_id: 'flaky', sections: { retry: { max_retries: 5 } } }),
  ];
  const { run, models, restart, call } = await startDemo(t, { settings: { shutdown_timeout_ms: 600_000 } });
  await restart({ agents });
  models.failures.push(new ModelError('rate_limited', 'later', { retryAfterSeconds: 55 }));
  const stream = await run(say('patient'));
  await stream.until('step_start');
  await eventually(
    async () => models.failures.length,
    (left) => left === 0,
  );
  await restart({ agents });
  t.match((await stream.rest()).at(-1), {
    termination: { type: 'error', value: 'service is shutting down' },
  });
  t.match(await settledRun(call), { termination_reason: { type: 'natural_end' } });
});

t.test('notifies a run that exceeds the timeout, and finishes it after the next start', async (t) => {
  const { run, restart, models, call } = await startDemo(t, { settings: { shutdown_timeout_ms: 0 } });
  const stream = await run(say('slow'));
  const { run_id } = await stream.until('run_start');
  await stream.until('text_delta');
  const restarted = restart();
  const tail = await stream.rest();
  t.match(tail.at(-1), {
    event_type: 'run_finish',
    run_id,
    termination: { type: 'error', value: 'service is shutting down' },
  });
  t.equal(tail.filter((event) => event.event_type === 'run_finish').length, 1);
  await restarted;
  t.match((await call('GET', `/v1/runs/${run_id}`)).body, { status: 'running' });
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 1,
  );
  models.release();
  t.match(await settledRun(call), { run_id, termination_reason: { type: 'natural_end' }, steps: 1 });
  t.equal((await call('GET', '/v1/threads/T/messages')).body.total, 2);
});

t.test('resumes a run from its last commit', async (t) => {
  const { run, restart, models, call } = await startDemo(t);
  models.steps.push((sink) => {
    sink.text('first');
    sink.toolStart('c1', 'get_weather');
    sink.toolEnd('c1', '{"location":"Oslo"}');
    return { stop: 'ToolUse', usage: { prompt_tokens: 1, completion_tokens: 1 } };
  });
  let went = false;
  models.steps.push(() => {
    went = true;
    throw new Error('the service goes down here');
  });
  const stream = await run(say('steps'));
  await eventually(async () => went, Boolean);
  await restart();
  await stream.rest();
  t.match(await settledRun(call), { steps: 2, final_output: 'echo: x' });
  const { messages } = (await call('GET', '/v1/threads/T/messages')).body as { messages: { role: string }[] };
  t.strictSame(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant'],
  );
});

t.test('executes an interrupted call again only if its tool is idempotent', async (t) => {
  const executions: string[] = [];
  let hang = true;
  const tool = (id: string, idempotent: boolean) =>
    defineTool({
      id,
      description: id,
      input: z.object({}),
      idempotent,
      async execute(_, { signal }) {
        executions.push(id);
        if (hang) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { data: 'done' };
      },
    });
  const { run, restart, models, call } = await startDemo(t, {
    app: { tools: [tool('lookup', true), tool('pay', false)] },
  });
  models.steps.push((sink) => {
    for (const name of ['lookup', 'pay']) {
      sink.toolStart(`call_${name}`, name);
      sink.toolEnd(`call_${name}`, '{}');
    }
    return { stop: 'ToolUse' };
  });
  await run(say('steps'));
  await eventually(
    async () => executions.length,
    (count) => count === 2,
  );
  hang = false;
  await restart();
  await settledRun(call);
  t.strictSame(executions, ['lookup', 'pay', 'lookup']);
  const { messages } = (await call('GET', '/v1/threads/T/messages')).body as {
    messages: { tool_call_id?: string; content: { text?: string }[] }[];
  };
  const answerTo = (id: string) => messages.find((message) => message.tool_call_id === id)?.content[0]?.text;
  t.equal(answerTo('call_lookup'), '"done"');
  t.equal(answerTo('call_pay'), '[Tool execution was interrupted]');
});

t.test('resumes a run with its original agent after the agent was removed', async (t) => {
  const { run, call, post, restart, models } = await startDemo(t);
  const stream = await run(say('slow'));
  await stream.until('text_delta');
  await restart({ agents: [] });
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 1,
  );
  models.release();
  t.match(await settledRun(call), { termination_reason: { type: 'natural_end' } });
  t.match((await post('/v1/runs', say('slow'))).body, { error: 'agent not found: slow' });
});
