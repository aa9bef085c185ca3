import t from 'tap';
import type { DecisionInput } from '../../src/runtime/submission.ts';
import { unstoredLedger } from '../../src/runtime/unstored.ts';
import { decisionOf, logDecision, type Ticket } from '../../src/runtime/wait.ts';
import { openWrite } from '../../src/runtime/write.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createObserver } from '../../src/telemetry/observer.ts';

/** runtime.md 12: what is kept and told of a decision. */

const ids = { uuid: () => 'd1' };
const observe = createObserver({ metrics: createMetrics(), stats: undefined });
const about = { thread_id: 'T', run_id: 'r1', dispatch_id: 'w1', call_id: 'c1' };

const decided = (input: Partial<DecisionInput>, resume_mode: Ticket['resume_mode'] = 'replay_tool_call') =>
  decisionOf(
    ids,
    { run_id: 'r1', call_id: 'c1', resume_mode },
    { tool_call_id: 'c1', action: 'resume', payload: null, ...input },
    7,
  );

const told = (input: Partial<DecisionInput>): [kind: string, payload: object][] => {
  const ledger = unstoredLedger(
    { clock: { now: () => 1 }, ids, observe },
    { scope: 'default', id: 'T', history: [] },
  );
  const logged = { ...ledger, deps: { ...ledger.deps, events: { appended() {} } } };
  const write = openWrite(logged, 7);
  logDecision(write, about, decided(input), 'durable_dispatch');
  return write.events.map(({ event_kind, payload }) => [event_kind, payload]);
};

t.test('a decision says why and by whom, where it was given that', async (t) => {
  t.strictSame(decided({}), { decision_id: 'd1', action: 'resume', result: null, updated_at: 7 });
  t.match(decided({ reason: 'late', decided_by: 'timeout' }), { reason: 'late', decided_by: 'timeout' });
});

t.test('only of a permission a payload that does not approve is a refusal', async (t) => {
  const payload = { approved: false };
  t.equal(decided({ payload }).action, 'cancel');
  t.equal(decided({ payload }, 'use_decision_as_tool_result').action, 'resume');
  t.equal(decided({ payload: [{ approved: false }] }).action, 'resume');
  t.equal(decided({ payload: { approved: true } }).action, 'resume');
});

t.test('the events of a decision say who decided only if it was not a person', async (t) => {
  const { call_id, ...rest } = about;
  const facts = {
    ...rest,
    tool_call_id: call_id,
    decision_id: 'd1',
    action: 'resume',
    result: 'x',
    reason: null,
    resume_updated_at: 7,
    delivery_path: 'durable_dispatch',
  };
  t.strictSame(told({ payload: 'x' }), [['MailboxDecisionReceived', facts]]);
  const result = { approved: true };
  const byTime = { ...facts, result, reason: 'late', decided_by: 'timeout' };
  t.strictSame(told({ payload: result, reason: 'late', decided_by: 'timeout' }), [
    ['MailboxDecisionReceived', byTime],
    ['ToolPermissionResolved', { ...byTime, approved: true }],
  ]);
});
