import t from 'tap';
import type { Task } from '../../../src/protocols/a2a/model.ts';
import { createProjection } from '../../../src/protocols/a2a/projection.ts';
import type { ContentBlock, Message } from '../../../src/schema/message.ts';
import type { Run } from '../../../src/schema/run.ts';
import { storeFor } from '../../store/open.ts';
import { run, SCOPE, write } from '../../store/records.ts';

type Told = Partial<Message> & { text?: string; staged?: true };

const store = await storeFor(t);
let scopes = 0;

/** The run `r` with these messages, as a task. */
const taskOf = async (
  fields: Partial<Run>,
  messages: Told[] = [],
  shown: { history?: number; artifacts?: boolean; upTo?: string } = {},
): Promise<Task> => {
  scopes += 1;
  const scope = `${SCOPE}-${scopes}`;
  await write(store, (batch) => {
    messages.forEach(({ text = '', staged, ...told }, index) => {
      const message: Message = {
        id: `m${index}`,
        role: 'assistant',
        content: [{ type: 'text', text }],
        metadata: { run_id: 'r' },
        ...told,
      };
      const delivery_mode = { boundary: 'resume_input', granularity: 'batch', target_run_id: 'r' } as const;
      const times = { created_at: 1, updated_at: 1 };
      const entry = { pending_id: message.id, thread_id: 't1', position: index + 1, revision: 1, ...times };
      if (staged) store.pending.put(batch, scope, { ...entry, message, delivery_mode });
      else
        store.messages.append(batch, scope, 't1', [{ seq: index + 1, message, created_at: 1, external: 1 }]);
    });
    store.runs.put(batch, scope, run('r', fields), undefined, 1761647400123);
  });
  const projection = createProjection({ store });
  const found = projection.find(scope, 'r');
  if (!found) throw new Error('there is no run');
  const { history, artifacts = true, upTo } = shown;
  return projection.task(scope, found, { history, artifacts, ...(upTo !== undefined && { upTo }) });
};

const done = (termination_reason: NonNullable<Run['termination_reason']>): Partial<Run> => ({
  status: 'done',
  termination_reason,
});

const waiting = (
  reason: NonNullable<Run['waiting']>['reason'],
  more: Partial<Run['waiting']> = {},
): Partial<Run> => ({
  status: 'waiting',
  waiting: { reason, ...more },
});

const wordsIn = (task: Task): unknown[] | undefined => task.status.message?.parts;

t.test('maps the state of a run to the state of its task', async (t) => {
  const rows: [Partial<Run>, string][] = [
    [{ status: 'created' }, 'SUBMITTED'],
    [{ status: 'running' }, 'WORKING'],
    [waiting('tool_permission'), 'AUTH_REQUIRED'],
    [waiting('background_tasks'), 'WORKING'],
    [waiting('user_input'), 'INPUT_REQUIRED'],
    [waiting('external_event'), 'INPUT_REQUIRED'],
    [waiting('rate_limit'), 'INPUT_REQUIRED'],
    [waiting('manual_pause'), 'INPUT_REQUIRED'],
    [{ status: 'waiting' }, 'INPUT_REQUIRED'],
    [done({ type: 'cancelled' }), 'CANCELED'],
    [done({ type: 'blocked', value: 'no' }), 'REJECTED'],
    [done({ type: 'error', value: 'broken' }), 'FAILED'],
    [done({ type: 'natural_end' }), 'COMPLETED'],
    [done({ type: 'behavior_requested' }), 'COMPLETED'],
    [done({ type: 'stopped', value: { code: 'max_rounds' } }), 'COMPLETED'],
  ];
  for (const [fields, state] of rows) {
    const { status } = await taskOf(fields);
    t.strictSame(status.state, `TASK_STATE_${state}`);
    t.equal(status.timestamp, '2025-10-28T10:30:00.123Z');
  }
});

t.test('includes external messages in the history, and no others', async (t) => {
  const thinking: ContentBlock = { type: 'thinking', thinking: 'hm' };
  const messages: Told[] = [
    { role: 'user', text: 'one', metadata: { run_id: 'r', external_id: 'mine' } },
    { role: 'system', text: 'rules' },
    { content: [thinking] },
    { content: [thinking, { type: 'text', text: 'two' }] },
    { role: 'tool', text: 'result', tool_call_id: 'c' },
    { role: 'user', text: 'secret', visibility: 'internal' },
    { role: 'user', text: 'of another', metadata: { run_id: 'other' } },
    { role: 'user', text: 'three', staged: true },
  ];
  const { history } = await taskOf(waiting('tool_permission'), messages);
  t.strictSame(history, [
    { messageId: 'mine', role: 'ROLE_USER', parts: [{ text: 'one' }], taskId: 'r', contextId: 't1' },
    { messageId: 'm3', role: 'ROLE_AGENT', parts: [{ text: 'two' }], taskId: 'r', contextId: 't1' },
    { messageId: 'm7', role: 'ROLE_USER', parts: [{ text: 'three' }], taskId: 'r', contextId: 't1' },
  ]);
  const latest = await taskOf(waiting('tool_permission'), messages, { history: 2 });
  t.strictSame(
    latest.history?.map(({ messageId }) => messageId),
    ['m3', 'm7'],
  );
  t.notOk('history' in (await taskOf(waiting('tool_permission'), messages, { history: 0 })));
});

t.test('shows a task as of a given message, even after later ones', async (t) => {
  const messages: Told[] = [
    { role: 'user', text: 'one' },
    { text: 'answered' },
    { role: 'user', text: 'two', metadata: { run_id: 'r', external_id: 'mine' } },
    { text: 'answered again' },
  ];
  const shown = async (upTo: string, history?: number) =>
    (
      await taskOf(done({ type: 'natural_end' }), messages, { upTo, ...(history && { history }) })
    ).history?.map(({ messageId }) => messageId);
  t.strictSame(await shown('m0'), ['m0']);
  t.strictSame(await shown('m2'), ['m0', 'm1', 'mine']);
  t.strictSame(await shown('m2', 1), ['mine']);
  t.equal(await shown('gone'), undefined);
});

t.test('shows neither message nor artifact of a working task', async (t) => {
  const task = await taskOf({ status: 'running' }, [{ text: 'so far' }]);
  t.notOk('message' in task.status);
  t.notOk('artifacts' in task);
});

t.test('ends a completed task with the last message of its agent', async (t) => {
  const words: Told[] = [{ text: 'first' }, { text: 'last' }, { role: 'user', text: 'thanks' }];
  const task = await taskOf(done({ type: 'natural_end' }), words);
  t.strictSame(task.artifacts, [{ artifactId: 'response', name: 'response', parts: [{ text: 'last' }] }]);
  t.match(task.status.message, { messageId: 'm1', role: 'ROLE_AGENT', parts: [{ text: 'last' }] });
  t.notOk('artifacts' in (await taskOf(done({ type: 'natural_end' }))));
  t.notOk('artifacts' in (await taskOf(done({ type: 'natural_end' }), words, { artifacts: false })));
});

t.test('explains a failure if the agent has sent no message', async (t) => {
  const end = done({ type: 'error', value: 'no such model' });
  t.strictSame(wordsIn(await taskOf(end)), [{ text: 'no such model' }]);
  t.strictSame(wordsIn(await taskOf(end, [{ text: 'half' }])), [{ text: 'half' }]);
  t.notOk((await taskOf(end, [{ text: 'half' }])).artifacts);
});

t.test('explains a rejection', async (t) => {
  const end = done({ type: 'blocked', value: 'not allowed' });
  t.strictSame(wordsIn(await taskOf(end)), [{ text: 'not allowed' }]);
  t.strictSame(wordsIn(await taskOf(end, [{ text: 'I will' }])), [
    { text: 'I will' },
    { text: 'not allowed' },
  ]);
});

t.test('shows what a suspended task waits for, and its ticket', async (t) => {
  const ticket = {
    ticket_id: 'perm',
    tool_call_id: 'call',
    tool_name: 'shell',
    resume_mode: 'replay_tool_call',
    reason: 'tool:PermissionConfirm',
    updated_at: 1,
  } as const;
  const { status } = await taskOf(waiting('tool_permission', { tickets: [ticket] }), [{ text: 'May I?' }]);
  t.match(status.message, { role: 'ROLE_AGENT', metadata: { ticketIds: ['perm'], toolCallIds: ['call'] } });
  t.strictSame(status.message?.parts, [
    { text: 'May I?' },
    { text: "Tool 'shell' awaits a decision" },
    { data: { id: 'call', name: 'shell', arguments: {} }, mediaType: 'application/json' },
  ]);
});

t.test('shows a question with the text of the caller', async (t) => {
  const [client, delegate] = [
    {
      ticket_id: 's1',
      tool_call_id: 'c1',
      tool_name: 'pick',
      arguments: { prompt: 'Which?' },
      reason: 'tool:pick',
    },
    {
      ticket_id: 's2',
      tool_call_id: 'c2',
      tool_name: 'agent_run_far',
      reason: 'agent_delegate:input_required',
    },
  ].map((each, index) => ({
    ...each,
    message: index === 0 ? 'Pick one' : 'Which colour?',
    resume_mode: 'use_decision_as_tool_result' as const,
    updated_at: 1,
  }));
  const { status } = await taskOf(
    waiting('user_input', { tickets: [client, delegate].flatMap((each) => each ?? []) }),
  );
  t.equal(status.state, 'TASK_STATE_INPUT_REQUIRED');
  t.strictSame(status.message?.parts, [
    { text: 'Pick one' },
    { data: { id: 'c1', name: 'pick', arguments: { prompt: 'Which?' } }, mediaType: 'application/json' },
    { text: 'Which colour?' },
  ]);
});

t.test('keeps the fields of a client message in the history', async (t) => {
  const a2a = {
    metadata: { k: 1 },
    extensions: ['https://x.org/e'],
    reference_task_ids: ['t-0'],
    request_metadata: { r: 1 },
  };
  const task = await taskOf({ status: 'running' }, [
    { role: 'user', text: 'Hi', metadata: { run_id: 'r', external_id: 'm-1', a2a } },
  ]);
  t.strictSame(task.history, [
    {
      messageId: 'm-1',
      role: 'ROLE_USER',
      parts: [{ text: 'Hi' }],
      taskId: 'r',
      contextId: 't1',
      metadata: { k: 1 },
      extensions: ['https://x.org/e'],
      referenceTaskIds: ['t-0'],
    },
  ]);
});
