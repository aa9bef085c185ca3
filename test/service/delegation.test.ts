import t, { type Test } from 'tap';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { ModelError } from '../../src/models/errors.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { type Run, RunList } from '../../src/schema/run.ts';
import { endOf, inState } from '../../src/schema/run-state.ts';
import { Thread, ThreadList } from '../../src/schema/thread.ts';
import { type Batch, openStore, type Store } from '../../src/store/index.ts';
import { asks, hangs, type Inference } from './models.ts';
import { decline, resume } from './suspended.ts';
import { createTestTools, type TestTools } from './tools.ts';
import {
  eventually,
  type RunEventLike,
  startDemo,
  startTroupe,
  type Troupe,
  type TroupeOptions,
} from './troupe.ts';
import { type View, viewOf } from './view.ts';

/**
 * Agents that delegate tasks to other agents (agent-loop.md 15.1, runtime.md 5.4). `boss` and `worker` share one
 * scripted model: it executes the steps of a test in the order of inferences, and then echoes.
 */

type Office = {
  troupe: Troupe;
  tools: TestTools;
  /** The thread of `boss`. */
  view: View;
  start(...script: Inference[]): Promise<RunEventLike[]>;
  /** Runs of sub-agents, oldest first. */
  children(): Promise<Run[]>;
  onlyChild(holds?: (run: Run) => boolean): Promise<Run>;
};

const messages = [{ role: 'user', content: 'Go' }];

const office = async (t: Test, options: TroupeOptions = {}): Promise<Office> => {
  const tools = createTestTools();
  const agents = [
    { id: 'boss', delegates: ['boss', 'worker', 'brief', 'strict', 'failing', 'slow'] },
    { id: 'worker', delegates: ['boss', 'worker'] },
    { id: 'brief', max_rounds: 1 },
    { id: 'strict', plugin_ids: ['permission'], sections: { permission: { default_behavior: 'deny' } } },
    { id: 'failing', model_id: 'flaky', sections: { retry: { max_retries: 0, max_stream_retries: 0 } } },
  ].map((agent) => AgentSpec.parse({ model_id: 'steps', max_rounds: 8, ...agent }));
  const troupe = await startTroupe(t, {
    ...options,
    app: { tools: tools.tools, records: { ...NO_RECORDS, agents } },
  });
  t.teardown(tools.release);
  const children = async (): Promise<Run[]> => {
    const { body } = await troupe.call('GET', '/v1/runs?limit=200');
    return RunList.parse(body).items.filter(({ parent_run_id }) => parent_run_id !== null);
  };
  return {
    troupe,
    tools,
    view: viewOf(troupe, 'parent'),
    start(...script) {
      troupe.models.steps.push(...script);
      return troupe.runToEnd({ agentId: 'boss', threadId: 'parent', messages });
    },
    children,
    async onlyChild(holds = () => true) {
      const [child] = await eventually(children, ([run]) => run !== undefined && holds(run));
      if (!child) throw new Error('no sub-agent was started');
      return child;
    },
  };
};

/** Changes the store of a stopped process to what a crash a moment earlier or later would have left. */
const between = async (troupe: Troupe, dir: string, change: (store: Store, batch: Batch) => void) => {
  await troupe.app.stop();
  const store = await openStore({ dir, durability: 'process' });
  const batch = store.batch('commons');
  change(store, batch);
  await store.commit(batch);
  await store.close();
  await troupe.restart();
};

/** Waits until the store lists no run for recovery; the last entries are removed after the responses are sent. */
const nobodyIsListed = (troupe: Troupe, dir: string): Promise<unknown> =>
  eventually(
    async () => {
      let listed: unknown[] = [];
      await between(troupe, dir, ({ driven }) => {
        listed = driven.all(undefined, 10);
      });
      return listed;
    },
    ({ length }) => length === 0,
  );

const delegates = (id: string, agent: string, prompt = 'a task'): Inference =>
  asks([id, `agent_run_${agent}`, { prompt }]);

const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

const resultOf = (events: readonly RunEventLike[], id: string) =>
  events.find((event) => event.event_type === 'tool_call_done' && event.id === id)?.result;

const isDone = ({ status }: Run): boolean => status === 'done';

t.test('runs a delegated call on a separate thread and returns its response', async (t) => {
  const { start, onlyChild, view, troupe } = await office(t);
  const events = await start(delegates('c1', 'worker', 'count the sheep'), says('three'));
  const child = await onlyChild();
  t.strictSame(resultOf(events, 'c1'), {
    tool_name: 'agent_run_worker',
    status: 'success',
    data: { agent_id: 'worker', status: 'completed', response: 'three', steps: 1 },
    message: null,
    metadata: { child_run_id: child.run_id },
  });
  t.match(events.at(-1), { event_type: 'run_finish', termination: { type: 'natural_end' } });

  const parent_run_id = String(events[0]?.run_id);
  t.match(child, {
    agent_id: 'worker',
    parent_run_id,
    status: 'done',
    final_output: 'three',
    activation: {
      trace: { origin: 'subagent', parent_run_id, parent_thread_id: 'parent', parent_tool_call_id: 'c1' },
    },
  });
  t.notOk('dispatch_id' in child, 'the child run has no dispatch');
  const own = viewOf(troupe, child.thread_id);
  t.equal((await own.thread()).parent_thread_id, 'parent');
  t.strictSame(await own.dispatches(), []);
  t.strictSame(await own.texts(), ['user: count the sheep', 'assistant: three']);
  const [started] = (await own.events(child.run_id)).filter(({ event_kind }) => event_kind === 'RunStarted');
  t.match(started?.payload, { identity: { parent_run_id, parent_tool_call_id: 'c1', origin: 'subagent' } });
  const kinds = await own.kinds();
  t.notOk(kinds.some((kind) => ['RunQueued', 'RunSubmitted'].includes(kind)));
  t.strictSame(
    (await view.runs()).map(({ run_id }) => run_id),
    [parent_run_id],
    'the list excludes runs of sub-agents',
  );
  await own.check(t);
  await view.check(t);
});

t.test('lists delegated threads separately from forks', async (t) => {
  const { start, troupe, onlyChild } = await office(t);
  await start(delegates('c1', 'worker'), says('three'));
  const { thread_id } = await onlyChild();
  const { body } = await troupe.call('POST', '/v1/threads', { parent_thread_id: 'parent' });
  const fork = Thread.parse(body).id;
  const listed = async (query: string): Promise<string[]> =>
    ThreadList.parse((await troupe.call('GET', `/v1/threads?${query}`)).body).items.sort();
  t.strictSame(await listed('delegated=true'), [thread_id]);
  t.strictSame(await listed('delegated=false'), [fork, 'parent'].sort());
  t.strictSame(await listed('delegated=false&parent_thread_id=parent'), [fork]);
  t.equal((await listed('limit=9')).length, 3);
});

t.test('emits the progress of a delegate while it executes', async (t) => {
  const { start, onlyChild, tools } = await office(t);
  const running = start(delegates('c1', 'worker'), asks(['c2', 'hold']), says('done'));
  await eventually(
    async () => tools.holding(),
    (calls) => calls.length > 0,
  );
  tools.release();
  const events = await running;
  const child = await onlyChild(isDone);
  const told = events.filter(({ event_type }) => event_type === 'activity_snapshot');
  t.match(told[0], { message_id: 'c1', content: { status: 'running', message: 'delegating to worker' } });
  t.match(told.at(-1), { content: { status: 'done', message: 'delegation to worker completed' } });
  t.equal(child.steps, 2);
});

t.test('shows the progress of a sub-agent under the call that started it', async (t) => {
  const { start, onlyChild } = await office(t);
  const events = await start(
    delegates('c1', 'worker'),
    delegates('c2', 'worker'),
    says('inner'),
    says('outer'),
    says('over'),
  );
  const [child] = [await onlyChild()];
  const relayed = events.filter(
    ({ event_type, message_id }) => event_type === 'activity_snapshot' && message_id === 'c2',
  );
  t.equal(relayed.length, 2);
  t.match(relayed[0], {
    activity_type: 'tool-call-progress',
    content: {
      call_id: 'c2',
      run_id: child?.run_id,
      parent_node_id: 'tool_call:c1',
      parent_call_id: 'c1',
      parent_run_id: events[0]?.run_id,
    },
  });
});

t.test('lets agents delegate to each other up to a depth limit', async (t) => {
  const { start, children, view } = await office(t);
  const script = Array.from({ length: 9 }, (_, level) =>
    delegates(`c${level}`, level % 2 ? 'boss' : 'worker'),
  );
  await start(...script);
  const runs = await children();
  t.equal(runs.length, 8);
  t.ok(runs.every(isDone));
  const deepest = runs.at(-1);
  t.match(deepest?.final_output, 'echo: a task');
  t.strictSame(
    runs.slice(1).map(({ parent_run_id }) => parent_run_id),
    runs.slice(0, -1).map(({ run_id }) => run_id),
  );
  await view.check(t);
});

t.test('executes two delegates of one message concurrently', async (t) => {
  const { start, children, tools } = await office(t);
  const hold: Inference = (sink, request, signal) =>
    asks([`h${Math.random()}`, 'hold'])(sink, request, signal);
  const both = asks(['a', 'agent_run_worker', { prompt: 'A' }], ['b', 'agent_run_worker', { prompt: 'B' }]);
  const running = start(both, hold, hold);
  await eventually(
    async () => tools.holding(),
    (calls) => calls.length === 2,
  );
  tools.release();
  const events = await running;
  t.match(resultOf(events, 'a'), { data: { response: 'echo: A' } });
  t.match(resultOf(events, 'b'), { data: { response: 'echo: B' } });
  t.equal((await children()).length, 2);
});

const FAILURES: [agent: string, script: Inference[], why: string][] = [
  ['brief', [asks(['x', 'note'])], 'failed: stopped: max_rounds'],
  ['strict', [asks(['x', 'note'])], "failed: blocked: Tool 'note' denied by permission rules"],
  ['failing', [], 'failed: inference failed: '],
];
for (const [agent, script, why] of FAILURES) {
  t.test(`fails the call of a delegate that does not complete, with the reason: ${why}`, async (t) => {
    const { start, troupe, onlyChild, view } = await office(t);
    troupe.models.failures.push(new ModelError('invalid_request', 'no'));
    const events = await start(delegates('c1', agent), ...script);
    const child = await onlyChild(isDone);
    t.match(resultOf(events, 'c1'), {
      status: 'error',
      data: { agent_id: agent, status: new RegExp(`^${why}`) },
      message: new RegExp(`^delegation to ${agent} ${why}`),
      metadata: { child_run_id: child.run_id },
    });
    t.match(events.at(-1), { termination: { type: 'natural_end' } }, 'the parent continues');
    await view.check(t);
  });
}

t.test('requires a prompt', async (t) => {
  const { start, children } = await office(t);
  for (const args of [{}, { prompt: '' }, { prompt: ' ' }]) {
    const events = await start(asks(['c1', 'agent_run_worker', args]));
    t.match(resultOf(events, 'c1'), { message: 'Invalid arguments: prompt must not be empty' });
  }
  t.strictSame(await children(), []);
});

t.test('fails the call of a sub-agent that is cancelled by its run id', async (t) => {
  const { start, onlyChild, troupe } = await office(t);
  const running = start(delegates('c1', 'worker'), hangs('half'));
  const child = await onlyChild();
  t.equal((await troupe.post(`/v1/runs/${child.run_id}/cancel`)).status, 202);
  t.match(resultOf(await running, 'c1'), {
    status: 'error',
    data: { status: 'cancelled' },
    message: 'delegation to worker cancelled',
  });
});

t.test('cancels all descendants of a cancelled run', async (t) => {
  const { start, children, troupe, view } = await office(t);
  const running = start(delegates('c1', 'worker'), delegates('c2', 'worker'), hangs('half'));
  await eventually(children, (runs) => runs.length === 2);
  await eventually(
    async () => troupe.models.requests.length,
    (asked) => asked === 3,
  );
  t.equal((await troupe.post('/v1/threads/parent/cancel')).status, 202);
  t.match((await running).at(-1), { termination: { type: 'cancelled' } });
  const runs = await eventually(children, (found) => found.every(isDone));
  t.ok(runs.every(({ termination_reason }) => termination_reason?.type === 'cancelled'));
  await view.check(t);
});

t.test(
  'suspends the parent of a suspended sub-agent, and resumes both with the decision on the parent',
  async (t) => {
    const { start, onlyChild, tools, troupe, view } = await office(t);
    const events = await start(delegates('c1', 'worker'), asks(['r1', 'risky']));
    const child = await onlyChild(({ status }) => status === 'waiting');
    t.match(events.at(-1), { termination: { type: 'suspended' } });
    t.match(resultOf(events, 'c1'), {
      status: 'pending',
      suspension: {
        suspension: {
          id: `delegate_run:${child.run_id}`,
          action: 'agent_delegate:suspended',
          message: "Permission required for tool 'risky'",
          parameters: {
            agent_id: 'worker',
            backend_status: 'suspended',
            child_run_id: child.run_id,
            tool_call_id: 'c1',
          },
        },
        pending: { id: 'c1', name: 'agent_run_worker', arguments: { prompt: 'a task' } },
        resume_mode: 'use_decision_as_tool_result',
      },
    });
    t.strictSame(tools.executed, []);

    t.equal((await view.post('/decision', resume('c1', { approved: true }))).status, 202);
    const parent = await view.until(events[0]?.run_id, 'done');
    t.match(parent.termination_reason, { type: 'natural_end' });
    t.strictSame(tools.executed, ['r1']);
    const again = await onlyChild(isDone);
    t.equal(again.run_id, child.run_id);
    t.notOk('dispatch_id' in again);
    const kinds = await view.kinds(events[0]?.run_id);
    t.ok(kinds.includes('ToolCallResumed'));
    t.match((await view.texts()).join('\n'), `"response":"echo: a task"`);
    await view.check(t);
    await viewOf(troupe, child.thread_id).check(t);
  },
);

t.test('passes a denial to the suspended tool of the sub-agent', async (t) => {
  const { start, onlyChild, tools, view } = await office(t);
  const events = await start(delegates('c1', 'worker'), asks(['r1', 'risky']));
  await view.post('/decision', resume('c1', { approved: false }));
  await view.until(events[0]?.run_id, 'done');
  t.match(await onlyChild(isDone), { termination_reason: { type: 'natural_end' } });
  t.strictSame(tools.executed, []);
});

const WAITS: [what: string, tool: string, reason: string, action: string, state: string][] = [
  ['a question', 'pick_color', 'user_input', 'agent_delegate:input_required', 'INPUT_REQUIRED'],
  ['a permission', 'risky', 'tool_permission', 'agent_delegate:suspended', 'AUTH_REQUIRED'],
];

for (const [what, tool, reason, action, state] of WAITS) {
  t.test(`suspends a parent for ${what} as its sub-agent does`, async (t) => {
    const { start, onlyChild, troupe, view } = await office(t);
    const events = await start(delegates('c1', 'worker'), asks(['q1', tool]));
    t.match(await onlyChild(({ status }) => status === 'waiting'), { waiting: { reason } });
    const { run_id, waiting } = await view.run(events[0]?.run_id);
    t.match(waiting, { reason, tickets: [{ reason: action }] });
    const { body } = await troupe.call('GET', `/v1/a2a/tasks/${run_id}`);
    t.match(body, { status: { state: `TASK_STATE_${state}` } });
  });
}

t.test('forwards a message for a task to its sub-agent that waits for input', async (t) => {
  const { start, onlyChild, troupe, view } = await office(t);
  const events = await start(delegates('c1', 'worker'), asks(['q1', 'pick_color']), says('blue it is'));
  const taskId = String(events[0]?.run_id);
  const message = { taskId, messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'blue' }] };
  t.equal((await troupe.post('/v1/a2a/message:send', { message })).status, 200);
  t.match(await onlyChild(), { status: 'done', final_output: 'blue it is' });
  t.match((await view.texts()).join('\n'), '"response":"blue it is"');
});

t.test('propagates suspensions up and decisions down through every level', async (t) => {
  const { start, children, tools, view } = await office(t);
  const events = await start(delegates('c1', 'worker'), delegates('c2', 'worker'), asks(['r1', 'risky']));
  t.strictSame(
    (await children()).map(({ status }) => status),
    ['waiting', 'waiting'],
  );
  await view.post('/decision', resume('c1', { approved: true }));
  await view.until(events[0]?.run_id, 'done');
  t.strictSame(tools.executed, ['r1']);
  t.equal((await children()).filter(isDone).length, 2);
  await view.check(t);
});

t.test('suspends the parent again when its sub-agent is suspended again', async (t) => {
  const dir = t.testdir();
  const { start, children, tools, view, troupe } = await office(t, { settings: { storage_dir: dir } });
  const events = await start(delegates('c1', 'worker'), asks(['r1', 'risky']), asks(['r2', 'risky']));
  await view.post('/decision', resume('c1', { approved: true }));
  await eventually(
    async () => tools.executed,
    (calls) => calls.length === 1,
  );
  const { waiting } = await view.until(events[0]?.run_id, 'waiting');
  t.match(waiting, { ticket_ids: [/^delegate_run:.*~1$/], tickets: [{ tickets: [{ id: 'perm_r2' }] }] });
  t.equal(
    (await view.post('/decision', resume('c1', { approved: true }))).status,
    409,
    'the call id is ambiguous',
  );
  await view.post('/decision', resume(String(waiting?.ticket_ids?.[0]), { approved: true }));
  await view.until(events[0]?.run_id, 'done');
  t.strictSame(tools.executed, ['r1', 'r2']);
  t.equal((await children()).length, 1);
  await view.check(t);
  await nobodyIsListed(troupe, dir);
});

const GIVE_UPS: Record<string, (office: Office) => Promise<unknown>> = {
  'by a cancel decision': ({ view }) => view.post('/decision', decline('c1')),
  'by new input': ({ view }) => view.say('never mind', { agentId: 'boss' }),
  'by a cancel of its parent': ({ view }) => view.post('/cancel'),
  'by an interrupt': ({ view }) => view.post('/interrupt'),
  'with the thread': ({ troupe }) => troupe.call('DELETE', '/v1/threads/parent'),
  'after a restart': async ({ troupe, view }) => {
    await troupe.restart();
    await view.post('/cancel');
  },
};
for (const [how, giveUp] of Object.entries(GIVE_UPS)) {
  t.test(`cancels a suspended child when its call is abandoned ${how}`, async (t) => {
    const dir = t.testdir();
    const here = await office(t, { settings: { storage_dir: dir } });
    await here.start(delegates('c1', 'worker'), asks(['r1', 'risky']));
    await here.onlyChild(({ status }) => status === 'waiting');
    await giveUp(here);
    t.match(await here.onlyChild(isDone), { termination_reason: { type: 'cancelled' } });
    t.strictSame(here.tools.executed, []);
    await nobodyIsListed(here.troupe, dir);
  });
}

t.test('cancels a suspended child whose call was lost in a crash', async (t) => {
  const { start, children, troupe, view } = await office(t);
  const both = asks(['a', 'agent_run_worker', { prompt: 'A' }], ['b', 'agent_run_slow', { prompt: 'B' }]);
  const running = start(both, asks(['r1', 'risky']));
  await eventually(children, (runs) => runs.some(({ status }) => status === 'waiting'));
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  await troupe.restart();
  await running;
  const runs = await eventually(children, (found) => found.every(isDone));
  t.strictSame(
    runs.map(({ termination_reason }) => termination_reason),
    [{ type: 'cancelled' }, { type: 'cancelled' }],
  );
  await view.check(t);
});

t.test('resumes the parent after a decision on the sub-agent', async (t) => {
  const dir = t.testdir();
  const { start, onlyChild, tools, troupe, view } = await office(t, { settings: { storage_dir: dir } });
  const events = await start(delegates('c1', 'worker'), asks(['r1', 'risky']));
  const child = await onlyChild(({ status }) => status === 'waiting');
  const answer = await troupe.post(`/v1/runs/${child.run_id}/decision`, resume('r1', { approved: true }));
  t.equal(answer.status, 202);
  await view.until(events[0]?.run_id, 'done');
  t.strictSame(tools.executed, ['r1']);
  t.match((await view.texts()).join('\n'), '"response":"echo: a task"');
  await view.check(t);
  await viewOf(troupe, child.thread_id).check(t);
  await between(troupe, dir, ({ driven }) =>
    t.strictSame(driven.all(undefined, 10), [], 'no parent needs another check'),
  );
});

t.test('keeps parent and child suspended across a restart', async (t) => {
  const { start, onlyChild, tools, troupe, view } = await office(t);
  const events = await start(delegates('c1', 'worker'), asks(['r1', 'risky']));
  const child = await onlyChild(({ status }) => status === 'waiting');
  await troupe.restart();
  t.match(await onlyChild(), { run_id: child.run_id, status: 'waiting' });
  await view.post('/decision', resume('c1', { approved: true }));
  await view.until(events[0]?.run_id, 'done');
  t.strictSame(tools.executed, ['r1']);
  t.match(await onlyChild(isDone), { run_id: child.run_id });
  t.strictSame(await viewOf(troupe, child.thread_id).dispatches(), []);
  await view.check(t);
});

t.test('leaves no sub-agent running after a crash', async (t) => {
  const { start, children, troupe, view } = await office(t);
  const running = start(delegates('c1', 'worker'), delegates('c2', 'worker'), hangs('half'));
  await eventually(
    async () => troupe.models.requests.length,
    (asked) => asked === 3,
  );
  await troupe.restart();
  await running;
  const runs = await eventually(children, (found) => found.every(isDone));
  t.equal(runs.length, 2);
  await view.rest();
  const [parent] = await view.runs();
  t.match(parent, { status: 'done', termination_reason: { type: 'natural_end' } });
  t.match((await view.texts()).join('\n'), '[Tool execution was interrupted]');
  await view.check(t);
  for (const { thread_id } of runs) await viewOf(troupe, thread_id).check(t);
});

/** Writes only the end of the run, without any of its consequences. */
const endRun = (store: Store, batch: Batch, run_id: string, more: Partial<Run> = {}): void => {
  const run = store.runs.get('default', run_id);
  if (!run) throw new Error(`there is no run ${run_id}`);
  const { waiting: _over, ...rest } = run;
  const termination_reason = more.termination_reason ?? { type: 'cancelled' };
  const ended = { ...rest, ...inState(endOf(termination_reason)), ...more, termination_reason };
  store.runs.put(batch, 'default', ended, run);
  const dispatch = store.dispatches.get('default', run.dispatch_id ?? '');
  if (dispatch) store.dispatches.put(batch, 'default', { ...dispatch, status: 'Superseded' }, dispatch);
};

for (const [does, way] of [
  ['executes', hangs('half')],
  ['waits', asks(['r1', 'risky'])],
] as const) {
  t.test(`ends a child that ${does} when a crash followed the end of its parent`, async (t) => {
    const dir = t.testdir();
    const { start, onlyChild, troupe } = await office(t, { settings: { storage_dir: dir } });
    const running = start(delegates('c1', 'worker'), way);
    const { parent_run_id } = await onlyChild(
      ({ status }) => status === (does === 'waits' ? 'waiting' : 'running'),
    );
    await between(troupe, dir, (store, batch) => {
      endRun(store, batch, parent_run_id ?? '');
    });
    await running;
    t.match(await onlyChild(isDone), { termination_reason: { type: 'cancelled' } });
  });
}

t.test('resumes a parent whose child ended just before a crash', async (t) => {
  const dir = t.testdir();
  const { start, onlyChild, troupe, view } = await office(t, { settings: { storage_dir: dir } });
  const events = await start(delegates('c1', 'worker'), asks(['r1', 'risky']));
  const child = await onlyChild(({ status }) => status === 'waiting');
  await between(troupe, dir, (store, batch) => {
    endRun(store, batch, child.run_id, {
      final_output: 'the last words',
      termination_reason: { type: 'natural_end' },
    });
  });
  await view.until(events[0]?.run_id, 'done');
  t.match((await view.texts()).join('\n'), 'the last words');
  await between(troupe, dir, ({ driven }) =>
    t.strictSame(driven.all(undefined, 10), [], 'no parent needs another check'),
  );
});

t.test('leaves no sub-agent running after a crash that follows the decision', async (t) => {
  const { start, onlyChild, tools, troupe, view } = await office(t);
  await start(delegates('c1', 'worker'), asks(['g1', 'guarded']));
  await view.post('/decision', resume('c1', { approved: true }));
  await eventually(
    async () => tools.holding(),
    (calls) => calls.length === 1,
  );
  await troupe.restart();
  t.match(await onlyChild(isDone), { termination_reason: { type: 'cancelled' } });
  await view.rest();
  t.match((await view.runs())[0], { status: 'done', termination_reason: { type: 'natural_end' } });
  await view.check(t);
});

t.test('returns the output of the sub-agent from the UI tools of the demo', async (t) => {
  const troupe = await startDemo(t);
  troupe.models.steps.push(asks(['u1', 'render_openui_ui', { prompt: 'a card' }]));
  const events = await troupe.runToEnd({ agentId: 'steps', threadId: 'ui', messages });
  const output = events
    .filter(({ event_type }) => event_type === 'tool_call_stream_delta')
    .map(({ delta }) => delta)
    .join('');
  t.not(output, '');
  t.match(resultOf(events, 'u1'), { status: 'success', data: { content: output } });
});

t.test('limits the runs below a root run, whichever of them starts the next one', async (t) => {
  const { start, children, troupe } = await office(t, { settings: { max_runs_below_run: 3 } });
  const ask = (agent: string, ...ids: string[]): Inference =>
    asks(...ids.map((id): [string, string, object] => [id, `agent_run_${agent}`, { prompt: 'x' }]));
  // The root starts two at once; the first of them requests two more, of which one exceeds the limit.
  const events = await start(ask('worker', 'c1', 'c2'), ask('worker', 'c3', 'c4'));
  t.match(events.at(-1), { termination: { type: 'natural_end' } });
  const runs = await children();
  t.equal(runs.length, 3);
  const root = String(events[0]?.run_id);
  for (const { activation } of runs) t.equal(activation?.trace.root_run_id, root);
  const refused = troupe.models.requests.flatMap(({ request }) =>
    request.messages.filter(
      ({ role, content }) => role === 'tool' && JSON.stringify(content).includes('may start 3 runs'),
    ),
  );
  t.equal(refused.length, 1, 'the model receives the reason');
  await start(ask('worker', 'c5'));
  t.equal((await children()).length, 4, 'each root run has a separate count');
});

t.test('counts the runs below a run across a restart', async (t) => {
  const { start, children, troupe, view } = await office(t, { settings: { max_runs_below_run: 1 } });
  const [first] = await start(asks(['c1', 'agent_run_worker', { prompt: 'x' }], ['c2', 'risky']));
  t.equal((await children()).length, 1);
  await troupe.restart();
  troupe.models.steps.push(asks(['c3', 'agent_run_worker', { prompt: 'x' }]));
  t.equal((await view.post('/decision', resume('c2'))).status, 202);
  await view.until(first?.run_id, 'done');
  t.equal((await children()).length, 1);
});

t.test('executes calls of one completion up to the limit and reports the others to the model', async (t) => {
  const { start, tools, troupe } = await office(t, { settings: { max_calls_per_step: 2 } });
  const events = await start(asks(['a', 'note'], ['b', 'note'], ['c', 'note'], ['d', 'risky']));
  t.match(events.at(-1), { termination: { type: 'natural_end' } });
  t.strictSame(tools.executed, ['a', 'b']);
  const results = troupe.models.requests.at(-1)?.request.messages.filter(({ role }) => role === 'tool') ?? [];
  t.equal(results.length, 4);
  for (const { content } of results.slice(2)) t.match(JSON.stringify(content), /at most 2 calls/);
});
