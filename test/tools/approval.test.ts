import t from 'tap';
import { z } from 'zod';
import { defineClientTool, defineTool } from '../../src/tools/define-tool.ts';
import { clientTicket, permissionTicket } from '../../src/tools/tickets.ts';
import type { GateDecision, GatedCall, Json, Tool } from '../../src/tools/tool.ts';
import { callTool, quietContext } from './call.ts';

type Definition = Parameters<typeof defineTool<typeof Payment>>[0];

const Payment = z.object({ amount: z.number().default(1), to: z.string().default('nobody') });

const payment = (needsApproval: Definition['needsApproval']): Tool =>
  defineTool({
    id: 'pay',
    description: 'Pays an amount.',
    input: Payment,
    needsApproval,
    execute: ({ amount }) => ({ data: { paid: amount } }),
  });

const callOf = (args: Json): GatedCall => ({ id: 'c1', name: 'pay', arguments: args });
const approved = {
  decision_id: 'd1',
  action: 'resume',
  result: { approved: true },
  updated_at: 0,
} as const;

/** What the gates of a tool say; a tool without one lets every call pass. */
const gate = async (tool: Tool, call: GatedCall): Promise<GateDecision> =>
  (await tool.gate?.(call)) ?? { kind: 'proceed' };
const asks = (call: GatedCall): GateDecision => ({ kind: 'suspend', ticket: permissionTicket(call) });

t.test('a tool that needs no approval has no gate', async (t) => {
  t.equal(payment(undefined).gate, undefined);
  t.equal(payment(false).gate, undefined);
});

t.test('a tool that always needs approval asks for it, whatever the arguments', async (t) => {
  const given: Json[] = [{ amount: 5 }, {}, null, 'nonsense', { amount: 'many' }];
  for (const args of given) {
    t.strictSame(await gate(payment(true), callOf(args)), asks(callOf(args)));
  }
});

t.test('a function decides by the arguments, which it sees parsed', async (t) => {
  const seen: unknown[] = [];
  const tool = payment((args) => {
    seen.push(args);
    return args.amount > 100;
  });
  t.strictSame(await gate(tool, callOf({ amount: 101 })), asks(callOf({ amount: 101 })));
  t.strictSame(await gate(tool, callOf({ amount: 100 })), { kind: 'proceed' });
  t.strictSame(seen, [
    { amount: 101, to: 'nobody' },
    { amount: 100, to: 'nobody' },
  ]);
});

t.test('a function may take its time', async (t) => {
  const tool = payment(async () => true);
  t.strictSame(await gate(tool, callOf({})), asks(callOf({})));
});

t.test('the ticket has the arguments as the model wrote them', async (t) => {
  const decision = await gate(
    payment(() => true),
    callOf({}),
  );
  t.match(decision, { ticket: { suspension: { parameters: {} }, pending: { arguments: {} } } });
});

t.test('bad arguments proceed, because the tool itself says what is wrong with them', async (t) => {
  let asked = false;
  const tool = payment(() => {
    asked = true;
    return true;
  });
  for (const args of ['nonsense', { amount: 'many' }, [1]]) {
    t.strictSame(await gate(tool, callOf(args)), { kind: 'proceed' });
    t.match((await callTool(tool, args)).message, /^Invalid arguments: /);
  }
  t.equal(asked, false);
});

t.test('what the tool would take as no arguments needs approval too', async (t) => {
  const tool = payment(() => true);
  for (const args of [null, '', {}]) {
    t.strictSame(await gate(tool, callOf(args)), asks(callOf(args)));
    t.strictSame((await callTool(tool, args)).data, { paid: 1 });
  }
});

t.test('a call with a decision passes, and the function is not asked again', async (t) => {
  let asked = 0;
  const tool = payment(() => {
    asked += 1;
    return true;
  });
  for (const each of [tool, payment(true)]) {
    t.strictSame(await gate(each, { ...callOf({}), decision: approved, approved: true }), {
      kind: 'proceed',
    });
  }
  t.equal(asked, 0);
});

t.test('a function that fails lets no call pass', async (t) => {
  const tool = payment(() => {
    throw new Error('no idea');
  });
  await t.rejects(gate(tool, callOf({})), { message: 'no idea' });
});

t.test('a tool may wait for a decision instead of giving a result, and sees the decision then', async (t) => {
  const ticket = permissionTicket(callOf({}));
  const tool = defineTool({
    id: 'ask',
    description: '',
    input: z.object({}),
    execute: (_, { decision }) => (decision ? { data: decision.result } : { suspend: ticket }),
  });
  t.strictSame(await tool.execute({}, quietContext()), { suspend: ticket });
  t.strictSame(await tool.execute({}, quietContext({ decision: approved })), {
    data: { approved: true },
  });
});

const pickColor = defineClientTool({
  id: 'pick_color',
  name: 'Pick Color',
  description: 'Lets the user pick a color.',
  category: 'frontend',
  input: z.object({ prompt: z.string() }),
});

t.test('a client tool is described as any other', async (t) => {
  t.strictSame(pickColor.descriptor, {
    id: 'pick_color',
    name: 'Pick Color',
    description: 'Lets the user pick a color.',
    category: 'frontend',
    parameters: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  });
  t.match(pickColor, { idempotent: false, exclusive: false });
});

t.test('each call of a client tool waits for the client', async (t) => {
  const call = { id: 'c1', name: 'pick_color', arguments: { prompt: 'Which?' } };
  t.strictSame(await gate(pickColor, call), { kind: 'suspend', ticket: clientTicket(call) });
});

t.test('the server never executes a client tool', async (t) => {
  const result = await callTool(pickColor, { prompt: 'Which?' });
  t.match(result, {
    status: 'error',
    message: "Internal error: 'pick_color' is executed by the client",
  });
});
