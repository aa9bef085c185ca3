import t from 'tap';
import { runMachine } from '../../machines/run.ts';
import type { Run } from '../../src/schema/run.ts';
import { askedBy, atRest, awaitsTasks, reasonOf, restStateOf } from '../../src/schema/run-state.ts';
import { taskStateOf } from '../../src/schema/task-state.ts';

const run = (changes: Partial<Run>): Run => ({
  run_id: 'r',
  thread_id: 't',
  agent_id: 'a',
  parent_run_id: null,
  status: 'created',
  created_at: 0,
  updated_at: 0,
  steps: 0,
  input_tokens: 0,
  output_tokens: 0,
  state: null,
  ...changes,
});

const ticket = (
  resume_mode: NonNullable<NonNullable<Run['waiting']>['tickets']>[number]['resume_mode'],
  reason?: string,
) => ({
  ticket_id: 'k',
  tool_call_id: 'k',
  tool_name: 'tool',
  resume_mode,
  ...(reason !== undefined && { reason }),
  updated_at: 0,
});

const PERMISSION = ticket('replay_tool_call', 'tool:PermissionConfirm');
const QUESTION = ticket('use_decision_as_tool_result', 'tool:ask_user');
const LOGIN = ticket('use_decision_as_tool_result', 'agent_delegate:auth_required');
const DELEGATE = ticket('use_decision_as_tool_result', 'agent_delegate:suspended');

const waiting = (
  reason: NonNullable<Run['waiting']>['reason'],
  more: Partial<NonNullable<Run['waiting']>> = {},
) => run({ status: 'waiting', waiting: { reason, ...more } });

const activation = (session: boolean): Pick<Run, 'activation'> => ({
  activation: {
    intent: { agent_id: 'a', thread_id: 't', kind: { kind: 'new_intent' } },
    options: {},
    trace: { origin: 'user', adapter: 'internal', run_mode: 'resume', ...(session && { session_id: 's' }) },
  },
});

const ended = (termination_reason: NonNullable<Run['termination_reason']>): Run =>
  run({ status: 'done', termination_reason });

t.test(
  'the record of a run says where it is in the machine, and the machine what it is as a task',
  async (t) => {
    const table: [Run, ReturnType<typeof restStateOf>, ReturnType<typeof taskStateOf>][] = [
      [run({}), 'created', 'TASK_STATE_SUBMITTED'],
      [run({ status: 'running' }), 'running', 'TASK_STATE_WORKING'],
      [waiting('tool_permission', { tickets: [PERMISSION] }), 'forDecision', 'TASK_STATE_AUTH_REQUIRED'],
      [waiting('tool_permission', { tickets: [DELEGATE] }), 'forDecision', 'TASK_STATE_AUTH_REQUIRED'],
      [
        waiting('tool_permission', { tickets: [LOGIN, QUESTION] }),
        'forAuthentication',
        'TASK_STATE_AUTH_REQUIRED',
      ],
      [
        waiting('tool_permission', { message: 'auth_required' }),
        'forAuthentication',
        'TASK_STATE_AUTH_REQUIRED',
      ],
      [waiting('tool_permission'), 'forDecision', 'TASK_STATE_AUTH_REQUIRED'],
      [waiting('user_input', { tickets: [QUESTION] }), 'forInput', 'TASK_STATE_INPUT_REQUIRED'],
      [waiting('user_input', { message: 'input_required' }), 'forInput', 'TASK_STATE_INPUT_REQUIRED'],
      [waiting('external_event'), 'forInput', 'TASK_STATE_INPUT_REQUIRED'],
      [run({ status: 'waiting' }), 'forInput', 'TASK_STATE_INPUT_REQUIRED'],
      [waiting('background_tasks'), 'forTasks', 'TASK_STATE_WORKING'],
      [{ ...waiting('user_input'), ...activation(true) }, 'forInput', 'TASK_STATE_INPUT_REQUIRED'],
      [{ ...waiting('user_input'), ...activation(false) }, 'answered', 'TASK_STATE_SUBMITTED'],
      [{ ...waiting('tool_permission'), ...activation(false) }, 'answered', 'TASK_STATE_SUBMITTED'],
      [{ ...waiting('background_tasks'), ...activation(false) }, 'forTasks', 'TASK_STATE_WORKING'],
      [ended({ type: 'natural_end' }), 'completed', 'TASK_STATE_COMPLETED'],
      [ended({ type: 'behavior_requested' }), 'completed', 'TASK_STATE_COMPLETED'],
      [ended({ type: 'stopped', value: { code: 'max_rounds' } }), 'completed', 'TASK_STATE_COMPLETED'],
      [ended({ type: 'cancelled' }), 'cancelled', 'TASK_STATE_CANCELED'],
      [ended({ type: 'blocked', value: 'no' }), 'blocked', 'TASK_STATE_REJECTED'],
      [ended({ type: 'error', value: 'no' }), 'failed', 'TASK_STATE_FAILED'],
      [run({ status: 'done' }), 'completed', 'TASK_STATE_COMPLETED'],
    ];
    for (const [record, state, task] of table) {
      const about = JSON.stringify([record.status, record.waiting, record.termination_reason]);
      t.equal(restStateOf(record), state, about);
      t.equal(taskStateOf(record), task, about);
      t.equal(awaitsTasks(record), state === 'forTasks', about);
      t.ok(runMachine.resolveState(atRest(state)).hasTag(record.status), about);
    }
    t.equal(awaitsTasks(undefined), false);
  },
);

t.test('open tickets make a run wait for the first of: a permission, an authentication, input', async (t) => {
  t.equal(askedBy([QUESTION, LOGIN, PERMISSION]), 'forDecision');
  t.equal(askedBy([QUESTION, LOGIN, DELEGATE]), 'forDecision');
  t.equal(askedBy([QUESTION, LOGIN]), 'forAuthentication');
  t.equal(askedBy([QUESTION]), 'forInput');
  t.equal(askedBy([]), 'forInput');
});

t.test('the reason on the wire is that of the state', async (t) => {
  t.equal(reasonOf('forDecision'), 'tool_permission');
  t.equal(reasonOf('forAuthentication'), 'tool_permission');
  t.equal(reasonOf('forInput'), 'user_input');
  t.equal(reasonOf('forTasks'), 'background_tasks');
});
