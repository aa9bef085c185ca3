import t from 'tap';
import type { Json } from '../../src/tools/tool.ts';
import { type DecisionRequest, editedArguments, isApproval, verdictOf } from '../../src/tools/verdict.ts';

/** runtime.md 12: consent is stated, never inferred. */

const PERMISSION = { resume_mode: 'replay_tool_call' } as const;
const CLIENT_TOOL = { resume_mode: 'use_decision_as_tool_result' } as const;
const QUESTION = { resume_mode: 'pass_decision_to_tool' } as const;

const said = (payload: Json, more: Partial<DecisionRequest> = {}): DecisionRequest => ({
  action: 'resume',
  payload,
  ...more,
});

const UNCLEAR: Json[] = [
  {},
  'no',
  'deny',
  'approved',
  true,
  false,
  1,
  [],
  ['approved'],
  [{ approved: true }],
  { approved: 'true' },
  { approved: 'false' },
  { approved: 1 },
  { approved: 0 },
  { approved: null },
  { approve: true },
  { approve: false },
  { accepted: true },
  { type: 'reject' },
  { arguments: {} },
  JSON.parse('{"__proto__":{"approved":true}}'),
];

t.test('approves a permission by "approved": true only', async (t) => {
  for (const form of ['native', 'approval'] as const) {
    t.strictSame(verdictOf(PERMISSION, said({ approved: true }, { form })), { kind: 'approved' });
    t.strictSame(verdictOf(PERMISSION, said({ approved: false }, { form })), { kind: 'denied' });
    for (const payload of UNCLEAR)
      t.strictSame(
        verdictOf(PERMISSION, said(payload, { form })),
        { kind: 'unclear' },
        JSON.stringify(payload),
      );
  }
});

t.test('approves without a payload in the native form only', async (t) => {
  t.strictSame(verdictOf(PERMISSION, said(null)), { kind: 'approved' });
  t.strictSame(verdictOf(PERMISSION, said(null, { form: 'approval' })), { kind: 'unclear' });
});

t.test('never approves a permission by the output of a client', async (t) => {
  for (const payload of [...UNCLEAR, null, { approved: true }])
    t.strictSame(verdictOf(PERMISSION, said(payload, { form: 'output' })), { kind: 'denied' });
});

t.test('denies on a cancel with any payload', async (t) => {
  for (const ticket of [PERMISSION, CLIENT_TOOL, QUESTION])
    t.strictSame(verdictOf(ticket, said({ approved: true }, { action: 'cancel' })), { kind: 'denied' });
});

t.test('uses any payload as the response to other tickets', async (t) => {
  for (const ticket of [CLIENT_TOOL, QUESTION])
    for (const payload of [...UNCLEAR, null, { approved: false }])
      t.strictSame(verdictOf(ticket, said(payload, { form: 'output' })), { kind: 'answered' });
});

const decision = (result: Json, action: DecisionRequest['action'] = 'resume') => ({
  decision_id: 'd1',
  action,
  result,
  updated_at: 1,
});

t.test('recognizes an approval in a stored decision', async (t) => {
  t.ok(isApproval(decision(null)));
  t.ok(isApproval(decision({ approved: true })));
  t.notOk(isApproval(decision(['approved'])));
  t.notOk(isApproval(decision('yes')));
  t.notOk(isApproval(decision({ approved: false })));
  t.notOk(isApproval(decision({ approved: true }, 'cancel')));
  t.notOk(isApproval(undefined));
});

t.test('accepts edited arguments in an approval only', async (t) => {
  t.strictSame(editedArguments(decision({ approved: true, arguments: { to: 'b' } })), { to: 'b' });
  t.strictSame(editedArguments(decision({ approved: true, arguments: {} })), {});
  const without: Json[] = [
    null,
    'x',
    { approved: true },
    { arguments: {} },
    { approved: true, arguments: null },
  ];
  for (const payload of without)
    t.equal(editedArguments(decision(payload)), undefined, JSON.stringify(payload));
  t.equal(editedArguments(decision({ approved: false, arguments: {} })), undefined);
  t.equal(editedArguments(decision({ approved: true, arguments: {} }, 'cancel')), undefined);
  t.equal(editedArguments(undefined), undefined);
});
