import t from 'tap';
import { expiredDecisions, expiryOf } from '../../src/runtime/maintenance/expiry.ts';
import { Resume } from '../../src/schema/activation.ts';
import { Run } from '../../src/schema/run.ts';
import type { TicketExpiry } from '../../src/schema/run-event.ts';
import { inState, type RunRecord } from '../../src/schema/run-state.ts';
import { editedArguments, isApproval } from '../../src/tools/verdict.ts';

/** agent-loop.md 14.1: `timeout_secs` and `on_timeout` of a permission rule. */

/** A run with a suspended call for each of these expiries, some of them already decided. */
const waitingRun = (expires: Record<string, TicketExpiry | undefined>, decided: string[] = []): RunRecord => {
  const calls = Object.entries(expires).map(([id, expiry]) => [
    id,
    {
      call_id: id,
      tool_name: 'rm',
      arguments: { path: '/' },
      status: 'suspended',
      updated_at: 0,
      resume_mode: 'replay_tool_call',
      suspension_id: `perm_${id}`,
      suspension_reason: 'tool:PermissionConfirm',
      ...(expiry && { expires: expiry }),
    },
  ]);
  const run = Run.parse({
    run_id: 'r1',
    thread_id: 't1',
    agent_id: 'a1',
    parent_run_id: null,
    status: 'waiting',
    created_at: 0,
    updated_at: 0,
    steps: 1,
    input_tokens: 0,
    output_tokens: 0,
    state: {
      revision: 1,
      extensions: { '__runtime.tool_call_states': { calls: Object.fromEntries(calls) } },
    },
    activation: {
      intent: { thread_id: 't1', kind: { kind: 'new_intent' } },
      options: {},
      trace: { origin: 'user', adapter: 'internal', run_mode: 'foreground' },
      seeded_decisions: decided.map((id) => [
        id,
        { decision_id: 'd1', action: 'cancel', result: null, updated_at: 1 },
      ]),
    },
  });
  return { ...run, machine_state: 'waiting.forDecision' };
};

t.test('expires a run when the first of its tickets expires', async (t) => {
  const run = waitingRun({
    a: { at: 9000, outcome: 'cancel' },
    b: { at: 5000, outcome: 'resume' },
    c: undefined,
  });
  t.equal(expiryOf(run), 5000);
  t.strictSame(expiredDecisions(run, 4999), []);
  t.match(expiredDecisions(run, 5000), [{ tool_call_id: 'perm_b' }]);
  t.match(expiredDecisions(run, 9000), [{ tool_call_id: 'perm_a' }, { tool_call_id: 'perm_b' }]);
});

t.test('does not expire a run without ticket expiries', async (t) => {
  t.equal(expiryOf(waitingRun({ a: undefined })), undefined);
  t.strictSame(expiredDecisions(waitingRun({ a: undefined }), Number.MAX_SAFE_INTEGER), []);
});

t.test('expires suspended runs only', async (t) => {
  const run = { ...waitingRun({ a: { at: 1, outcome: 'cancel' } }), ...inState('running.inferring') };
  t.equal(expiryOf(run), undefined);
});

t.test('keeps a decision that was made before the time limit', async (t) => {
  const run = waitingRun({ a: { at: 1, outcome: 'resume' }, b: { at: 2, outcome: 'resume' } }, ['a']);
  t.equal(expiryOf(run), 2);
  t.match(expiredDecisions(run, 3), [{ tool_call_id: 'perm_b' }]);
});

t.test('records an expiry as a decision that no person made', async (t) => {
  t.strictSame(expiredDecisions(waitingRun({ a: { at: 0, outcome: 'cancel' } }), 0), [
    {
      run_id: 'r1',
      tool_call_id: 'perm_a',
      form: 'native',
      action: 'cancel',
      payload: { approved: false, expired: true },
      reason: 'no decision until 1970-01-01T00:00:00.000Z',
      decided_by: 'timeout',
    },
  ]);
  const [approval] = expiredDecisions(waitingRun({ a: { at: 0, outcome: 'resume' } }), 0);
  const decision = Resume.parse({ ...approval, decision_id: 'd1', result: approval?.payload, updated_at: 0 });
  t.ok(isApproval(decision));
  t.equal(editedArguments(decision), undefined);
});
