import t from 'tap';
import {
  callId,
  completionId,
  conversationId,
  fileId,
  inputItemId,
  outputItemId,
  parseCallId,
  parseCompletionId,
  parseFileId,
  parseItemId,
  parseResponseId,
  responseId,
  storedItemId,
  threadOfConversation,
} from '../../../src/protocols/openai/ids.ts';

const run_id = '01930000-0000-7000-8000-0000000000ab';
const digits = '0193000000007000800000000000' + '00ab';

t.test('derives each id from its run and resolves it again (check 5)', (t) => {
  const leg = { run_id, leg: 3 };
  t.equal(responseId(leg), `resp_${digits}0003`);
  t.strictSame(parseResponseId(responseId(leg)), leg);
  t.equal(completionId(leg), `chatcmpl-${digits}0003`);
  t.strictSame(parseCompletionId(completionId(leg)), leg);

  const output = { prefix: 'fc', run_id, step: 258, ordinal: 17 } as const;
  t.equal(outputItemId(output), `fc_${digits}010211`);
  t.strictSame(parseItemId(outputItemId(output)), { kind: 'output', ...output });

  const input = { prefix: 'msg', run_id, ordinal: 2 } as const;
  t.equal(inputItemId(input), `msg_${digits}i00002`);
  t.strictSame(parseItemId(inputItemId(input)), { kind: 'input', ...input });

  t.equal(storedItemId(26), 'msg_s0000001a');
  t.strictSame(parseItemId('msg_s0000001a'), { kind: 'stored', seq: 26 });

  const call = { run_id, ordinal: 36 * 36 + 35 };
  t.equal(callId(call), `call_${digits}10z`);
  t.equal(callId(call).length, 40);
  t.strictSame(parseCallId(callId(call)), call);

  t.equal(conversationId(run_id), `conv_${digits}`);
  t.equal(threadOfConversation(`conv_${digits}`), run_id);
  t.equal(conversationId('support-1'), 'support-1');
  t.equal(threadOfConversation('support-1'), 'support-1');

  t.equal(fileId(run_id), `file-${digits}`);
  t.equal(parseFileId(`file-${digits}`), run_id);
  t.end();
});

t.test('gives runs with other ids stable ids that resolve to nothing', (t) => {
  const leg = { run_id: 'task of a client', leg: 0 };
  t.match(responseId(leg), /^resp_x[0-9a-f]{32}0000$/);
  t.equal(responseId(leg), responseId(leg));
  t.equal(parseResponseId(responseId(leg)), undefined);
  t.equal(callId({ run_id: leg.run_id, ordinal: 0 }).length, 40);
  t.end();
});

t.test('resolves no malformed id', (t) => {
  for (const id of [
    '',
    'resp_',
    `resp_${digits}`,
    `resp_${digits}000g`,
    `chatcmpl-${digits}0000`,
    `resp_${digits}00000`,
  ]) {
    t.equal(parseResponseId(id), undefined, id);
  }
  for (const id of ['msg_', `zz_${digits}000000`, `fc_${digits}i00001`, 'msg_s1', `call_${digits}000`]) {
    t.equal(parseItemId(id), undefined, id);
  }
  for (const id of ['call_', `call_${digits}`, `call_${digits}00A`]) t.equal(parseCallId(id), undefined, id);
  t.end();
});
