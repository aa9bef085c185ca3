import t from 'tap';
import type { Message } from '../../src/schema/message.ts';
import type { PendingMessage } from '../../src/schema/pending.ts';
import type { Run } from '../../src/schema/run.ts';
import { hasOwnState, type RunState } from '../../src/schema/run-state.ts';
import { stateInRecord, stateInRows, withState } from '../../src/store/repair/old-run-states.ts';
import { run } from './records.ts';

/** The states of records that were written without one. */

const ticket = (resume_mode: 'replay_tool_call' | 'use_decision_as_tool_result', reason: string) => ({
  ticket_id: 'k',
  tool_call_id: 'k',
  tool_name: 'tool',
  resume_mode,
  reason,
  updated_at: 0,
});

const PERMISSION = ticket('replay_tool_call', 'tool:PermissionConfirm');
const QUESTION = ticket('use_decision_as_tool_result', 'tool:ask_user');
const LOGIN = ticket('use_decision_as_tool_result', 'agent_delegate:auth_required');
const DELEGATE = ticket('use_decision_as_tool_result', 'agent_delegate:suspended');

const old = (changes: Partial<Run>): Run => {
  const { machine_state: _new, ...record } = run('r', changes);
  return record;
};

const waiting = (
  reason: NonNullable<Run['waiting']>['reason'],
  more: Partial<NonNullable<Run['waiting']>> = {},
): Run => old({ status: 'waiting', waiting: { reason, ...more } });

const activation = (session: boolean, decided: string[] = []): Pick<Run, 'activation'> => ({
  activation: {
    intent: { agent_id: 'a', thread_id: 't', kind: { kind: 'new_intent' } },
    options: {},
    trace: { origin: 'user', adapter: 'internal', run_mode: 'resume', ...(session && { session_id: 's' }) },
    seeded_decisions: decided.map((id) => [
      id,
      { decision_id: 'd', action: 'resume', result: null, updated_at: 0 },
    ]),
  },
});

const ended = (termination_reason: NonNullable<Run['termination_reason']>): Run =>
  old({ status: 'done', termination_reason });

t.test('derives the state from the record', async (t) => {
  const table: [Run, RunState][] = [
    [old({ status: 'created' }), 'created'],
    [old({ status: 'running' }), 'running.inferring'],
    [waiting('tool_permission', { tickets: [PERMISSION] }), 'waiting.forDecision'],
    [waiting('tool_permission', { tickets: [DELEGATE] }), 'waiting.forDecision'],
    [waiting('tool_permission', { tickets: [LOGIN, QUESTION] }), 'waiting.forAuthentication'],
    [waiting('tool_permission', { message: 'auth_required' }), 'waiting.forAuthentication'],
    [waiting('tool_permission'), 'waiting.forDecision'],
    [waiting('user_input', { tickets: [QUESTION] }), 'waiting.forInput'],
    [waiting('user_input', { message: 'input_required' }), 'waiting.forInput'],
    [waiting('external_event'), 'waiting.forInput'],
    [old({ status: 'waiting' }), 'waiting.forInput'],
    [waiting('background_tasks'), 'waiting.forTasks'],
    [{ ...waiting('user_input'), ...activation(true) }, 'waiting.forInput'],
    [{ ...waiting('user_input'), ...activation(false) }, 'waiting.answered'],
    [{ ...waiting('tool_permission'), ...activation(false) }, 'waiting.answered'],
    [{ ...waiting('background_tasks'), ...activation(false) }, 'waiting.forTasks'],
    [ended({ type: 'natural_end' }), 'completed'],
    [ended({ type: 'behavior_requested' }), 'completed'],
    [ended({ type: 'stopped', value: { code: 'max_rounds' } }), 'completed'],
    [ended({ type: 'cancelled' }), 'cancelled'],
    [ended({ type: 'blocked', value: 'no' }), 'blocked'],
    [ended({ type: 'error', value: 'no' }), 'failed'],
    [old({ status: 'done' }), 'completed'],
  ];
  for (const [record, state] of table) {
    const about = JSON.stringify([record.status, record.waiting, record.termination_reason]);
    t.equal(stateInRecord(record), state, about);
    t.ok(hasOwnState(withState(record, state)), about);
  }
});

const pendingFor = (run_id: string, visibility?: 'internal'): PendingMessage => ({
  pending_id: 'p',
  thread_id: 't1',
  position: 1,
  message: { id: 'p', role: 'user', content: [], ...(visibility && { visibility }) },
  revision: 1,
  delivery_mode: { boundary: 'next_step', granularity: 'batch', target_run_id: run_id },
  created_at: 0,
  updated_at: 0,
});

const asked: Message = {
  id: 'm',
  role: 'assistant',
  content: [],
  tool_calls: [
    { id: 'c1', name: 'tool', arguments: {} },
    { id: 'c2', name: 'tool', arguments: {} },
  ],
  metadata: { run_id: 'r', step_index: 0 },
};
const result = (tool_call_id: string): Message => ({
  id: tool_call_id,
  role: 'tool',
  content: [],
  tool_call_id,
});

t.test('derives the state from which a run continues from the rows around it', async (t) => {
  type Around = { messages?: Message[]; pending?: PendingMessage[]; open?: boolean };
  const stateAmong = ({ messages = [], pending = [], open = false }: Around, record: Run): RunState =>
    stateInRows('default', record, {
      messages: () => messages,
      pending: () => pending,
      hasOpenDispatch: () => open,
    });
  const state = (record: Run, messages: Message[] = []): RunState => stateAmong({ messages }, record);
  const suspended = {
    revision: 1,
    extensions: {
      '__runtime.tool_call_states': { calls: { c1: { suspension_id: 'k', status: 'suspended' } } },
    },
  };
  const tickets = { tickets: [PERMISSION] };
  t.equal(state(old({})), 'running.inferring');
  t.equal(state(old({}), [result('c1'), asked]), 'running.acting', 'a call has no result');
  t.equal(state(old({}), [result('c2'), result('c1'), asked]), 'running.inferring');
  t.equal(state(old({ state: suspended }), [result('c2'), result('c1'), asked]), 'running.deciding');
  t.equal(state(waiting('tool_permission', tickets)), 'waiting.forDecision');
  t.equal(state({ ...waiting('background_tasks'), ...activation(false) }), 'waiting.notified');

  const decided = (id: string): Run => ({
    ...waiting('tool_permission', tickets),
    ...activation(true, [id]),
  });
  t.equal(stateAmong({ open: true }, decided('k')), 'waiting.answered');
  t.equal(stateAmong({ open: true }, decided('x')), 'waiting.forDecision');
  t.equal(state(decided('k')), 'waiting.forDecision', 'the dispatch ended with the wait');
  const asks = waiting('user_input');
  t.equal(stateAmong({ open: true, pending: [pendingFor('r')] }, asks), 'waiting.answered');
  t.equal(stateAmong({ open: true, pending: [pendingFor('other')] }, asks), 'waiting.forInput');
  t.equal(stateAmong({ open: false, pending: [pendingFor('r')] }, asks), 'waiting.forInput');
  const event = [pendingFor('r', 'internal')];
  t.equal(stateAmong({ open: true, pending: event }, asks), 'waiting.forInput', 'a task event');
  const forTasks = waiting('background_tasks');
  t.equal(stateAmong({ open: true, pending: event }, forTasks), 'waiting.notified');
  t.equal(stateAmong({ open: false, pending: event }, forTasks), 'waiting.forTasks');
});
