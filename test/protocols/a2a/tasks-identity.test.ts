import t from 'tap';
import { A2aError } from '../../../src/protocols/a2a/errors.ts';
import { agentFor, checkClientTaskId, checkContinuation } from '../../../src/protocols/a2a/identity.ts';
import type { Run } from '../../../src/schema/run.ts';
import { run } from '../../store/records.ts';

const refusal = (act: () => unknown): string | undefined => {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!(error instanceof A2aError)) throw error;
    const [detail] = error.details;
    const what = detail && ('reason' in detail ? detail.reason : detail.fieldViolations[0]?.field);
    return `${error.code} ${what}`;
  }
};

t.test('assigns the named agent, the agent of the thread or the public agent to a new task', async (t) => {
  const thread = { named: undefined, last: undefined, used: false, publicAgent: 'public' };
  t.equal(agentFor({ ...thread, named: 'a', last: 'b', used: true }), 'a');
  t.equal(agentFor({ ...thread, last: 'b', used: true }), 'b');
  t.equal(agentFor(thread), 'public');
  t.equal(agentFor({ ...thread, publicAgent: undefined }), undefined);
  t.equal(
    refusal(() => agentFor({ ...thread, used: true })),
    '400 agent',
    'a thread with messages and no agent is rejected',
  );
});

t.test('accepts an unknown client task id as configured', async (t) => {
  const check = (...args: Parameters<typeof checkClientTaskId>) => refusal(() => checkClientTaskId(...args));
  t.equal(check('t', undefined, 'with_context'), '404 TASK_NOT_FOUND');
  t.equal(check('t', 'c', 'with_context'), undefined);
  t.equal(check('t', 'c', 'never'), '404 TASK_NOT_FOUND');
  t.equal(check('t', undefined, 'always'), undefined);
  t.equal(check(undefined, undefined, 'never'), undefined);
});

t.test('continues only a task that waits for input with a message', async (t) => {
  const named = { agent_id: undefined, context_id: undefined };
  const check = (fields: Partial<Run>, more: object = {}, executes = false) =>
    refusal(() => checkContinuation(run('r', fields), { ...named, ...more }, executes));
  const waits: Partial<Run> = { status: 'waiting', waiting: { reason: 'user_input' } };
  t.equal(check(waits), undefined);
  t.equal(check(waits, { agent_id: 'default', context_id: 't1' }), undefined);
  t.equal(check(waits, { agent_id: 'other' }), '404 TASK_NOT_FOUND');
  t.equal(check(waits, { context_id: 't2' }), '400 message.contextId');
  t.equal(
    check(waits, {}, true),
    '400 message.taskId',
    'a wait that is being committed accepts no input yet',
  );
  t.equal(check({ status: 'created' }), '400 message.taskId');
  t.equal(check({ status: 'running' }), '400 message.taskId');
  t.equal(check({ status: 'waiting', waiting: { reason: 'background_tasks' } }), '400 message.taskId');
  t.equal(check({ status: 'done' }), '400 UNSUPPORTED_OPERATION');
});
