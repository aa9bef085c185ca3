import t from 'tap';
import type { Json } from '../../src/tools/tool.ts';
import { editedArguments, isApproval, type Said, verdictOf } from '../../src/tools/verdict.ts';

/** runtime.md 12: consent is stated, never inferred. */

const PERMISSION = { resume_mode: 'replay_tool_call' } as const;
const CLIENT_TOOL = { resume_mode: 'use_decision_as_tool_result' } as const;
const QUESTION = { resume_mode: 'pass_decision_to_tool' } as const;

const said = (payload: Json, more: Partial<Said> = {}): Said => ({ action: 'resume', payload, ...more });

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

t.test('a permission is given by "approved": true, and by nothing else', async (t) => {
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

t.test('no payload approves only in the native form', async (t) => {
  t.strictSame(verdictOf(PERMISSION, said(null)), { kind: 'approved' });
  t.strictSame(verdictOf(PERMISSION, said(null, { form: 'approval' })), { kind: 'unclear' });
});

t.test('the output of a client never gives a permission', async (t) => {
  for (const payload of [...UNCLEAR, null, { approved: true }])
    t.strictSame(verdictOf(PERMISSION, said(payload, { form: 'output' })), { kind: 'denied' });
});

t.test('a cancel denies, whatever its payload is', async (t) => {
  for (const ticket of [PERMISSION, CLIENT_TOOL, QUESTION])
    t.strictSame(verdictOf(ticket, said({ approved: true }, { action: 'cancel' })), { kind: 'denied' });
});

t.test('other tickets take any payload as the answer', async (t) => {
  for (const ticket of [CLIENT_TOOL, QUESTION])
    for (const payload of [...UNCLEAR, null, { approved: false }])
      t.strictSame(verdictOf(ticket, said(payload, { form: 'output' })), { kind: 'answered' });
});

const decision = (result: Json, action: Said['action'] = 'resume') => ({
  decision_id: 'd1',
  action,
  result,
  updated_at: 1,
});

t.test('a stored decision is an approval when it was one', async (t) => {
  t.ok(isApproval(decision(null)));
  t.ok(isApproval(decision({ approved: true })));
  t.notOk(isApproval(decision(['approved'])));
  t.notOk(isApproval(decision('yes')));
  t.notOk(isApproval(decision({ approved: false })));
  t.notOk(isApproval(decision({ approved: true }, 'cancel')));
  t.notOk(isApproval(undefined));
});

t.test('only an approval may carry other arguments', async (t) => {
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
