import t from 'tap';
import { runMachine } from '../../machines/run.ts';
import type { RunStatus } from '../../src/schema/run.ts';
import {
  entryOf,
  hasOwnState,
  hasTag,
  inState,
  RUN_STATES,
  type RunState,
  recordedState,
  stateAt,
  waitKindOf,
  waitReason,
  wireRun,
} from '../../src/schema/run-state.ts';
import { STATE_OF_RUNNING, type TaskState, taskStateOf } from '../../src/schema/task-state.ts';
import { run } from '../store/records.ts';

const ticket = (resume_mode: 'replay_tool_call' | 'use_decision_as_tool_result', reason: string) => ({
  resume_mode,
  reason,
});

const PERMISSION = ticket('replay_tool_call', 'tool:PermissionConfirm');
const QUESTION = ticket('use_decision_as_tool_result', 'tool:ask_user');
const LOGIN = ticket('use_decision_as_tool_result', 'agent_delegate:auth_required');
const DELEGATE = ticket('use_decision_as_tool_result', 'agent_delegate:suspended');

const TABLE: Record<RunState, [RunStatus, TaskState, ReturnType<typeof entryOf>]> = {
  created: ['created', 'TASK_STATE_SUBMITTED', 'inference'],
  'running.deciding': ['running', 'TASK_STATE_WORKING', 'decisions'],
  'running.inferring': ['running', 'TASK_STATE_WORKING', 'inference'],
  'running.acting': ['running', 'TASK_STATE_WORKING', 'unfinished_calls'],
  'running.checkpointing': ['running', 'TASK_STATE_WORKING', 'inference'],
  'waiting.forDecision': ['waiting', 'TASK_STATE_AUTH_REQUIRED', 'inference'],
  'waiting.forInput': ['waiting', 'TASK_STATE_INPUT_REQUIRED', 'inference'],
  'waiting.forAuthentication': ['waiting', 'TASK_STATE_AUTH_REQUIRED', 'inference'],
  'waiting.forBudget': ['waiting', 'TASK_STATE_INPUT_REQUIRED', 'inference'],
  'waiting.forTasks': ['waiting', 'TASK_STATE_WORKING', 'inference'],
  'waiting.answered': ['waiting', 'TASK_STATE_SUBMITTED', 'inference'],
  'waiting.notified': ['waiting', 'TASK_STATE_WORKING', 'inference'],
  completed: ['done', 'TASK_STATE_COMPLETED', 'inference'],
  cancelled: ['done', 'TASK_STATE_CANCELED', 'inference'],
  blocked: ['done', 'TASK_STATE_REJECTED', 'inference'],
  failed: ['done', 'TASK_STATE_FAILED', 'inference'],
};

t.test('reads status, task state and entry of a run from its state', async (t) => {
  t.strictSame(RUN_STATES, Object.keys(TABLE));
  for (const machine_state of RUN_STATES) {
    const [status, task, entry] = TABLE[machine_state];
    t.strictSame(inState(machine_state), { status, machine_state });
    t.equal(taskStateOf({ machine_state }), task, machine_state);
    if (status === 'running') t.equal(task, STATE_OF_RUNNING, 'lists of tasks rely on it');
    t.equal(entryOf({ machine_state }), entry, machine_state);
    t.ok(hasTag({ machine_state }, status), machine_state);
    t.equal(recordedState(runMachine.resolveState(stateAt(machine_state))), machine_state);
  }
});

t.test('records a wait from the commit that makes it durable', async (t) => {
  t.equal(recordedState({ value: { waiting: { forInput: 'parking' } } }), 'waiting.forInput');
});

t.test('records no state from which a run cannot be resumed', async (t) => {
  const values = [
    { running: 'validating' },
    { running: { retrying: 'pausing' } },
    'concluding',
    'ending',
    'released',
  ];
  for (const value of values) t.equal(recordedState({ value }), undefined);
});

t.test('does not show the state on the wire', async (t) => {
  const { machine_state, ...shown } = run('r');
  t.equal(machine_state, 'running.inferring');
  t.strictSame(wireRun(run('r')), shown);
});

t.test('finds states that contradict their records', async (t) => {
  const waiting = { status: 'waiting', waiting: { reason: 'user_input' } } as const;
  const failed = { status: 'done', termination_reason: { type: 'error', value: 'no' } } as const;
  const right = [
    run('r'),
    run('r', { ...waiting, machine_state: 'waiting.forInput' }),
    run('r', { ...waiting, machine_state: 'waiting.answered' }),
    run('r', { ...failed, machine_state: 'failed' }),
  ];
  const wrong = [
    { ...run('r'), machine_state: undefined },
    { ...run('r'), machine_state: 'resting' },
    run('r', { machine_state: 'created' }),
    run('r', { ...waiting, machine_state: 'waiting.forDecision' }),
    run('r', { ...waiting, machine_state: 'completed' }),
    run('r', { ...failed, machine_state: 'completed' }),
  ];
  for (const record of right) t.ok(hasOwnState(record), record.machine_state);
  for (const record of wrong) t.notOk(hasOwnState(record), JSON.stringify(record));
});

t.test('waits for a permission first, then an authentication, then input', async (t) => {
  t.equal(waitKindOf([QUESTION, LOGIN, PERMISSION]), 'forDecision');
  t.equal(waitKindOf([QUESTION, LOGIN, DELEGATE]), 'forDecision');
  t.equal(waitKindOf([QUESTION, LOGIN]), 'forAuthentication');
  t.equal(waitKindOf([QUESTION]), 'forInput');
  t.equal(waitKindOf([]), 'forInput');
});

t.test('maps each wait to its reason on the wire', async (t) => {
  t.equal(waitReason('forDecision'), 'tool_permission');
  t.equal(waitReason('forAuthentication'), 'tool_permission');
  t.equal(waitReason('forInput'), 'user_input');
  t.equal(waitReason('forTasks'), 'background_tasks');
});
