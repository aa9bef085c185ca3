import t, { type Test } from 'tap';
import { createMetrics } from '../../src/observability/metrics/metrics.ts';
import { createObserver } from '../../src/observability/observer.ts';
import { unstoredLedger } from '../../src/runtime/ledger/in-memory.ts';
import { openWrite } from '../../src/runtime/ledger/transaction.ts';
import type { DecisionInput } from '../../src/runtime/thread/submission.ts';
import { acceptDecision, logDecision, type OpenTicket } from '../../src/runtime/thread/tickets.ts';
import { digestOfCall, digestOfTickets } from '../../src/schema/call-digest.ts';
import type { Json } from '../../src/schema/json.ts';
import { Conflict, type Outcome, Unprocessable } from '../../src/schema/outcome.ts';
import type { TicketBelow } from '../../src/schema/run.ts';

/** runtime.md 12: accepted decisions, and what is stored and logged of them. */

const observe = createObserver({ metrics: createMetrics(), stats: undefined });
const about = { thread_id: 'T', run_id: 'r1', dispatch_id: 'w1', call_id: 'c1' };

const PERMISSION: OpenTicket = {
  run_id: 'r1',
  agent_id: 'parent',
  user: undefined,
  ticket_id: 'perm_c1',
  tool_call_id: 'c1',
  tool_name: 'send',
  arguments: { to: 'a' },
  resume_mode: 'replay_tool_call',
  digest: digestOfCall({ tool: 'send', arguments: { to: 'a' } }),
  updated_at: 1,
};

const below = (id: string, tool = 'send', run_id = 'r2'): TicketBelow => ({
  id,
  tool,
  arguments: { id },
  digest: digestOfCall({ tool, arguments: { id } }),
  agent_id: 'child',
  run_id,
  resume_mode: 'replay_tool_call',
});

const delegating = (...tickets: TicketBelow[]): OpenTicket => ({
  run_id: 'r1',
  agent_id: 'parent',
  user: undefined,
  ticket_id: 'delegate_run:r2',
  tool_call_id: 'd1',
  tool_name: 'agent_run_child',
  arguments: { prompt: 'x' },
  resume_mode: 'use_decision_as_tool_result',
  digest: digestOfTickets(tickets),
  tickets,
  updated_at: 1,
});

const input = (more: Partial<DecisionInput>): DecisionInput => ({
  tool_call_id: 'perm_c1',
  action: 'resume',
  payload: null,
  ...more,
});

const accept = (more: Partial<DecisionInput>, ticket = PERMISSION, listed?: TicketBelow) =>
  acceptDecision({ ticket, ...(listed && { below: listed }) }, input(more));

const refused = (t: Test, act: () => unknown, error: Outcome): void => {
  t.throws(act, { name: error.name, message: error.message });
};

const YES = { approved: true };
const CHANGED = new Conflict('the call has changed');

t.test('records the reason and the author of a decision if given', async (t) => {
  t.strictSame(accept({}).resume, { action: 'resume', result: null });
  t.match(accept({ reason: 'late', decided_by: 'timeout' }).resume, {
    reason: 'late',
    decided_by: 'timeout',
  });
});

t.test('rejects an ambiguous decision', async (t) => {
  const unclear: Json[] = ['no', {}, { approved: 'false' }];
  for (const payload of unclear)
    refused(t, () => accept({ payload }), new Unprocessable('say "approved": true or false'));
  t.equal(accept({ payload: { approved: false } }).resume.action, 'cancel');
  t.equal(accept({ payload: 'sent', form: 'output' }).resume.action, 'cancel');
  t.equal(accept({ payload: YES }).resume.action, 'resume');
});

t.test('requires the digest of the decided call', async (t) => {
  const { digest = '' } = PERMISSION;
  t.equal(accept({ payload: YES, digest }).resume.action, 'resume');
  for (const action of ['resume', 'cancel'] as const)
    refused(t, () => accept({ action, payload: YES, digest: `0${digest.slice(1)}` }), CHANGED);
});

t.test('accepts edited arguments with the digest of the edited call', async (t) => {
  const edited = { approved: true, arguments: { to: 'b' } };
  const digest = digestOfCall({ tool: 'send', arguments: edited.arguments });
  t.match(accept({ payload: edited, digest }), {
    resume: { action: 'resume', result: edited },
    edit: { run_id: 'r1', tool: 'send', arguments: { to: 'b' } },
  });
  refused(t, () => accept({ payload: edited, digest: PERMISSION.digest ?? '' }), CHANGED);
  refused(
    t,
    () => accept({ payload: edited }),
    new Unprocessable('edited arguments are decided with the digest of the edited call'),
  );
});

t.test('limits a remembered pattern to the suspended tool', async (t) => {
  const remember = (pattern: unknown) => () =>
    accept({ payload: { approved: true, remember: 'thread', pattern: pattern as string } });
  for (const pattern of ['*', 'sen?', '/send/', 'other', '*(to = "a")', 7, 'x'.repeat(1025), 'send(to ~ "x)'])
    t.throws(remember(pattern), { name: 'Unprocessable', message: /^pattern/ }, String(pattern));
  t.throws(() => accept({ payload: { approved: true, remember: 'galaxy' } }), {
    message: /^remember must be/,
  });
  for (const pattern of ['send', 'send(to = "a")', 'send(*)']) t.doesNotThrow(remember(pattern), pattern);
});

t.test('decides one of the nested tickets by its id', async (t) => {
  const [first, second] = [below('perm_w'), below('perm_n')];
  const accepted = accept({ payload: YES }, delegating(first, second), second);
  t.match(accepted, {
    call_id: 'd1',
    resume: { action: 'resume', below: [{ run_id: 'r2', ticket_id: 'perm_n', action: 'resume' }] },
  });
  t.equal(accepted.resume.below?.length, 1);
  t.match(accept({ action: 'cancel' }, delegating(first, second), second).resume, {
    action: 'resume',
    below: [{ ticket_id: 'perm_n', action: 'cancel' }],
  });
  refused(
    t,
    () => accept({ payload: YES, digest: first.digest }, delegating(first, second), second),
    CHANGED,
  );
});

t.test('approves all nested tickets by the digest of the list, or if there is only one', async (t) => {
  const both = delegating(below('perm_w'), below('perm_n'));
  t.throws(() => accept({ payload: YES }, both), { name: 'Unprocessable', message: /lists 2 tickets/ });
  t.throws(() => accept({ payload: null }, both), { name: 'Unprocessable', message: /lists 2 tickets/ });
  t.equal(accept({ payload: YES, digest: both.digest ?? '' }, both).resume.below?.length, 2);
  t.equal(accept({ payload: YES }, delegating(below('perm_w'))).resume.below?.length, 1);
  t.match(accept({ payload: { approved: false } }, both).resume.below, [
    { action: 'cancel' },
    { action: 'cancel' },
  ]);
  t.match(accept({ payload: 'done', form: 'output' }, both).resume.below, [
    { action: 'cancel' },
    { action: 'cancel' },
  ]);
});

t.test('cancels the delegating call itself', async (t) => {
  const { resume } = accept({ action: 'cancel' }, delegating(below('perm_w'), below('perm_n')));
  t.equal(resume.action, 'cancel');
  t.notHas(resume, { below: [] });
});

t.test('replaces the arguments of exactly one nested call', async (t) => {
  const payload = { approved: true, arguments: { id: 'b' } };
  const digest = digestOfCall({ tool: 'send', arguments: payload.arguments });
  const both = delegating(below('perm_w'), below('perm_n', 'send', 'r3'));
  t.throws(() => accept({ payload, digest: both.digest ?? '' }, both), {
    message: /replace those of one call/,
  });
  t.match(accept({ payload, digest }, both, both.tickets?.[1]).edit, {
    run_id: 'r3',
    arguments: { id: 'b' },
  });
});

const logged = (more: Partial<DecisionInput>): [kind: string, payload: object][] => {
  const ledger = unstoredLedger(
    { clock: { now: () => 1 }, ids: { uuid: () => 'd1' }, observe },
    { scope: 'default', id: 'T', history: [] },
  );
  const write = openWrite({ ...ledger, deps: { ...ledger.deps, events: { appended() {} } } }, 7);
  const ticket = { ...PERMISSION, resume_mode: 'use_decision_as_tool_result' } as const;
  const { resume } = accept(more, ticket);
  logDecision(write, about, { decision_id: 'd1', ...resume, updated_at: 7 }, 'durable_dispatch');
  return write.events.map(({ event_kind, payload }) => [event_kind, payload]);
};

t.test('includes the author in the events of a decision only if given', async (t) => {
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
  t.strictSame(logged({ payload: 'x' }), [['MailboxDecisionReceived', facts]]);
  const byTime = { ...facts, result: YES, reason: 'late', decided_by: 'timeout' };
  t.strictSame(logged({ payload: YES, reason: 'late', decided_by: 'timeout' }), [
    ['MailboxDecisionReceived', byTime],
    ['ToolPermissionResolved', { ...byTime, approved: true }],
  ]);
});
