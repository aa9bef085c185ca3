import t, { type Test } from 'tap';
import { z } from 'zod';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { textOf } from '../../src/schema/message.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { Json } from '../../src/tools/tool.ts';
import { asks, hangs, type Inference } from './models.ts';
import { createTestTools } from './tools.ts';
import { eventually, startTroupe, type Troupe } from './troupe.ts';
import { viewOf } from './view.ts';

/** Background tasks and messages between agents: agent-loop.md 16, runtime.md 7.4 rule 3 and 17 step 6. */

type Task = {
  end(result: Json): void;
  fail(message: string): void;
  emit(event: Json): void;
  cancelled(): boolean;
};

/** Provides the tool `work`, which starts a task that the test controls. */
const begin = async (t: Test) => {
  const tasks: Task[] = [];
  const work = defineTool({
    id: 'work',
    description: 'Starts a task.',
    input: z.object({ name: z.string().optional() }),
    execute({ name }, context) {
      const started = context.tasks?.start({
        ...(name !== undefined && { name }),
        run: (signal, emit) =>
          new Promise((resolve, reject) => {
            const fail = (message: string) => reject(new Error(message));
            tasks.push({ end: resolve, fail, emit, cancelled: () => signal.aborted });
          }),
      });
      return { data: { task_id: started?.task_id ?? null } };
    },
  });
  const tools = createTestTools();
  const worker = AgentSpec.parse({ id: 'worker', model_id: 'steps', plugin_ids: ['background_tasks'] });
  const troupe = await startTroupe(t, {
    app: { tools: [work, ...tools.tools], records: { ...NO_RECORDS, agents: [worker] } },
  });
  return { troupe, tools, tasks, view: viewOf(troupe, 'T') };
};

const say =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

const runOf = (troupe: Troupe, ...steps: Inference[]) => {
  troupe.models.steps.push(...steps);
  return troupe.runToEnd({ agentId: 'worker', threadId: 'T', messages: [{ role: 'user', content: 'Go' }] });
};

/** Starts a run that completes while its task is still executing. */
const waiting = async (t: Test) => {
  const begun = await begin(t);
  const events = await runOf(begun.troupe, asks(['c1', 'work', { name: 'dig' }]), say('started'));
  return { ...begun, events, run_id: String(events[0]?.run_id) };
};

/** The last message in the prompt of the last inference. */
const lastSeen = ({ models }: Troupe): string => {
  const message = models.requests.at(-1)?.request.messages.at(-1);
  return message ? textOf(message.content) : '';
};

const eventText = (kind: string, task_id: string, body: object): string =>
  `<background-task-event kind="${kind}" task_id="${task_id}">\n${JSON.stringify(body)}\n</background-task-event>`;

t.test('suspends a run that completes while its task is executing', async (t) => {
  const { events, run_id, view } = await waiting(t);
  t.match(events.at(-1), {
    event_type: 'run_finish',
    termination: { type: 'natural_end' },
    result: { response: 'started', status: 'waiting', status_reason: 'awaiting_tasks' },
  });
  t.match(await view.run(run_id), { status: 'waiting', waiting: { reason: 'background_tasks' } });
  t.equal((await view.kinds(run_id)).at(-1), 'RunSuspended');
  const state = (await view.run(run_id)).state?.extensions;
  t.match(state, { '__runtime.pending_work': { has_pending: true } });
});

t.test('requests a structured result again when it arrived with the call that started a task', async (t) => {
  const { troupe, tasks, view } = await begin(t);
  const output_schema = { type: 'object', properties: { depth: { type: 'number' } }, required: ['depth'] };
  troupe.models.steps.push(asks(['c1', 'work', {}], ['f', 'final_answer', { depth: 0 }]));
  const messages = [{ role: 'user', content: 'Go' }];
  const events = await troupe.runToEnd({ agentId: 'worker', threadId: 'T', messages, output_schema });
  const run_id = String(events[0]?.run_id);
  t.match(await view.run(run_id), { status: 'waiting', waiting: { reason: 'background_tasks' } });
  troupe.models.steps.push(asks(['f', 'final_answer', { depth: 42 }]));
  tasks[0]?.end(42);
  t.strictSame((await view.until(run_id, 'done')).structured_output, { depth: 42 });
  await view.check(t);
});

t.test('resumes the same run with the result of its task', async (t) => {
  const { run_id, tasks, troupe, view } = await waiting(t);
  troupe.models.steps.push(say('done'));
  tasks[0]?.end(42);
  const run = await view.until(run_id, 'done');
  t.match(run, { termination_reason: { type: 'natural_end' }, final_output: 'done' });
  t.equal(run.activation?.trace.run_mode, 'internal_wake');
  t.equal(lastSeen(troupe), eventText('completed', 'bg_1', { result: 42 }));
  t.equal((await view.runs()).length, 1);
  const internal = await view.messages('&visibility=internal');
  t.match(internal, [{ role: 'user', visibility: 'internal', metadata: { run_id } }]);
  await view.check(t);
});

t.test('reports a failed task as failed', async (t) => {
  const { run_id, tasks, troupe, view } = await waiting(t);
  tasks[0]?.fail('no spade');
  await view.until(run_id, 'done');
  t.equal(lastSeen(troupe), eventText('failed', 'bg_1', { error: 'no spade' }));
});

t.test('resumes a run with an event of its task, and suspends it again', async (t) => {
  const { run_id, tasks, troupe, view } = await waiting(t);
  troupe.models.steps.push(say('noted'), say('done'));
  tasks[0]?.emit({ depth: 3 });
  await eventually(
    async () => (await view.run(run_id)).steps,
    (steps) => steps === 3,
  );
  await view.until(run_id, 'waiting');
  t.equal(lastSeen(troupe), eventText('custom', 'bg_1', { depth: 3 }));
  tasks[0]?.end('</background-task-event>');
  await view.until(run_id, 'done');
  t.equal(
    lastSeen(troupe),
    '<background-task-event kind="completed" task_id="bg_1">\n{"result":"\\u003c/background-task-event>"}\n</background-task-event>',
  );
});

t.test('passes the result of a task to the next step when its run is still executing', async (t) => {
  const { troupe, tools, tasks, view } = await begin(t);
  const ended = runOf(troupe, asks(['c1', 'work']), asks(['c2', 'hold']), say('read'));
  await eventually(
    async () => tools.holding().length,
    (holding) => holding === 1,
  );
  tasks[0]?.end('early');
  await eventually(
    () => troupe.app.pending.list('default', 'T'),
    (staged) => staged.length === 1,
  );
  tools.release();
  const events = await ended;
  t.match(events.at(-1), {
    termination: { type: 'natural_end' },
    result: { status: 'done', response: 'read' },
  });
  t.equal(lastSeen(troupe), eventText('completed', 'bg_1', { result: 'early' }));
  await view.check(t);
});

t.test('keeps waiting for a decision when a task ends', async (t) => {
  const { troupe, tools, tasks, view } = await begin(t);
  const events = await runOf(troupe, asks(['c1', 'work'], ['c2', 'risky']), say('all done'));
  const run_id = events[0]?.run_id;
  tasks[0]?.end('early');
  t.match(await view.run(run_id), { status: 'waiting', waiting: { ticket_ids: ['perm_c2'] } });
  await view.post('/decision', { toolCallId: 'c2', action: 'resume', payload: { approved: true } });
  await view.until(run_id, 'done');
  t.strictSame(tools.executed, ['c2']);
  t.equal(lastSeen(troupe), eventText('completed', 'bg_1', { result: 'early' }));
});

t.test('cancels a task by its name only while it is executing', async (t) => {
  const { run_id, tasks, troupe, view } = await waiting(t);
  const target = { relation: 'self', name: 'dig' };
  troupe.models.steps.push(
    asks(['c2', 'cancel_task', { target }], ['c3', 'cancel_task', { target }]),
    say('done'),
  );
  await view.say('Stop it');
  await view.until(run_id, 'done');
  t.ok(tasks[0]?.cancelled());
  const results = (await view.messages())
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => textOf(content));
  t.match(JSON.parse(results[1] ?? ''), { status: 'accepted', root_task_id: 'bg_1', cancelled_count: 1 });
  t.match(JSON.parse(results[2] ?? ''), { status: 'failed', root_task_id: null, cancelled_count: 0 });
  t.equal(lastSeen(troupe), eventText('cancelled', 'bg_1', {}));
});

t.test('cancels the tasks of a cancelled run', async (t) => {
  const { run_id, tasks, troupe, view } = await waiting(t);
  t.equal((await troupe.post(`/v1/runs/${run_id}/cancel`)).status, 202);
  await view.until(run_id, 'done');
  t.ok(tasks[0]?.cancelled());
  tasks[0]?.end('too late');
  await view.check(t);
  t.equal((await view.messages('&visibility=all')).length, 4);
});

t.test('reports lost tasks as failed to a suspended run after a restart', async (t) => {
  const { run_id, troupe, view } = await waiting(t);
  troupe.models.steps.push(say('a pity'));
  await troupe.restart();
  const run = await view.until(run_id, 'done');
  t.match(run, { final_output: 'a pity', termination_reason: { type: 'natural_end' } });
  t.equal(lastSeen(troupe), eventText('failed', 'bg_1', { error: 'the process ended' }));
  t.equal((await view.messages('&visibility=internal')).length, 1);
  await view.check(t);
});

t.test('resumes a run that was overtaken once its thread is free', async (t) => {
  const { run_id, tasks, troupe, view } = await waiting(t);
  await view.say('other work', { agentId: 'slow' });
  await eventually(
    async () => troupe.models.waiting(),
    (slow) => slow === 1,
  );
  troupe.models.steps.push(say('done'));
  tasks[0]?.end(7);
  await eventually(
    () => view.dispatches(),
    (all) => all.some(({ status }) => status === 'Queued'),
  );
  t.equal((await view.run(run_id)).status, 'waiting');
  troupe.models.release();
  t.match(await view.until(run_id, 'done'), { final_output: 'done' });
  t.equal(lastSeen(troupe), eventText('completed', 'bg_1', { result: 7 }));
  await view.check(t);
});

const toOther = { to: { relation: 'agent', thread_id: 'U', agent_id: 'echo' }, message: 'Good day' };

const withOther = async (t: Test) => {
  const begun = await begin(t);
  const { troupe } = begun;
  await troupe.runToEnd({ agentId: 'echo', threadId: 'U', messages: [{ role: 'user', content: 'First' }] });
  return { ...begun, other: viewOf(troupe, 'U') };
};

t.test('delivers a message to another thread exactly once, also across a restart', async (t) => {
  const { troupe, view, other } = await withOther(t);
  await runOf(troupe, asks(['c1', 'send_message', toOther]), say('sent'));
  const result = JSON.parse((await view.texts())[2]?.replace('tool: ', '') ?? '');
  t.match(result, { status: 'queued' });
  const run = await other.until(`durable-msg-${result.message_id}`, 'done');
  t.match(run, {
    agent_id: 'echo',
    final_output: 'echo: Good day',
    activation: { trace: { origin: 'internal' } },
  });
  await troupe.restart();
  await troupe.runToEnd({ agentId: 'worker', threadId: 'T', messages: [{ role: 'user', content: 'Again' }] });
  const arrived = (await other.messages()).filter(({ content }) => textOf(content) === 'Good day');
  t.match(arrived, [{ role: 'user', metadata: { sender_agent_id: 'worker', run_id: run.run_id } }]);
  t.equal((await other.runs()).length, 2);
  await other.check(t);
});

t.test('delivers a message exactly once when its sender dies before recording it as sent', async (t) => {
  const { troupe, view, other } = await withOther(t);
  // The step with the message is committed and the message is sent, but not yet recorded as sent.
  troupe.models.steps.push(asks(['c1', 'send_message', toOther]), hangs('thinking'));
  const stream = await troupe.run({
    agentId: 'worker',
    threadId: 'T',
    messages: [{ role: 'user', content: 'Go' }],
  });
  await stream.until('text_delta');
  await other.rest();
  troupe.models.steps.push(say('sent'));
  await troupe.restart();
  await view.rest();
  await other.check(t);
  t.equal((await other.texts()).filter((text) => text === 'user: Good day').length, 1);
});

t.test('rejects a message to an unknown thread at once', async (t) => {
  const { troupe, view } = await begin(t);
  await runOf(
    troupe,
    asks(
      ['c1', 'send_message', toOther],
      ['c2', 'send_message', { to: { relation: 'parent' }, message: 'x' }],
    ),
    say('x'),
  );
  const results = (await view.texts()).filter((text) => text.startsWith('tool: '));
  const refused = 'tool: {"message_id":null,"status":"failed","error":"recipient_not_found"}';
  t.strictSame(results, [refused, refused]);
});

t.test('lists a message to a deleted thread as failed, and sends it again on request', async (t) => {
  const { troupe, tools, view } = await withOther(t);
  const ended = runOf(troupe, asks(['c1', 'send_message', toOther], ['c2', 'hold']), say('sent'));
  await eventually(
    async () => tools.holding().length,
    (holding) => holding === 1,
  );
  t.equal((await troupe.call('DELETE', '/v1/threads/U')).status, 204);
  tools.release();
  await ended;
  const recover = async (action: string) => {
    await runOf(troupe, asks([action, 'recover_failed_messages', { action }]), say('ok'));
    return JSON.parse((await view.texts()).findLast((text) => text.startsWith('tool: '))?.slice(6) ?? '');
  };
  t.match(await recover('list'), { messages: [{ thread_id: 'U', text: 'Good day', attempts: 5 }] });
  await troupe.runToEnd({ agentId: 'echo', threadId: 'U', messages: [{ role: 'user', content: 'Back' }] });
  t.strictSame(await recover('replay'), { replayed: 1 });
  const other = viewOf(troupe, 'U');
  await other.rest();
  t.equal((await other.texts()).filter((text) => text === 'user: Good day').length, 1);
  t.strictSame(await recover('list'), { messages: [] });
  t.strictSame(await recover('clear'), { cleared: 0 });
});
