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

/** The verdict of the gate of a tool; a tool without one lets every call pass. */
const gate = async (tool: Tool, call: GatedCall): Promise<GateDecision> =>
  (await tool.gate?.(call)) ?? { kind: 'proceed' };
const asks = (call: GatedCall): GateDecision => ({ kind: 'suspend', ticket: permissionTicket(call) });

t.test('has no gate if it needs no approval', async (t) => {
  t.equal(payment(undefined).gate, undefined);
  t.equal(payment(false).gate, undefined);
});

t.test('asks for approval with any arguments if it always needs it', async (t) => {
  const given: Json[] = [{ amount: 5 }, {}, null, 'nonsense', { amount: 'many' }];
  for (const args of given) {
    t.strictSame(await gate(payment(true), callOf(args)), asks(callOf(args)));
  }
});

t.test('decides by a function of the parsed arguments', async (t) => {
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

t.test('accepts an asynchronous function', async (t) => {
  const tool = payment(async () => true);
  t.strictSame(await gate(tool, callOf({})), asks(callOf({})));
});

t.test('keeps the arguments in the ticket as the model wrote them', async (t) => {
  const decision = await gate(
    payment(() => true),
    callOf({}),
  );
  t.match(decision, { ticket: { suspension: { parameters: {} }, pending: { arguments: {} } } });
});

t.test('proceeds with invalid arguments, which the tool reports itself', async (t) => {
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

t.test('asks for approval of empty arguments too', async (t) => {
  const tool = payment(() => true);
  for (const args of [null, '', {}]) {
    t.strictSame(await gate(tool, callOf(args)), asks(callOf(args)));
    t.strictSame((await callTool(tool, args)).data, { paid: 1 });
  }
});

t.test('lets a decided call pass without calling the function again', async (t) => {
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

t.test('lets no call pass if the function throws', async (t) => {
  const tool = payment(() => {
    throw new Error('no idea');
  });
  await t.rejects(gate(tool, callOf({})), { message: 'no idea' });
});

t.test('may suspend a call for a decision, which it receives later', async (t) => {
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

t.test('describes a client tool like any other', async (t) => {
  t.strictSame(pickColor.descriptor, {
    id: 'pick_color',
    name: 'Pick Color',
    description: 'Lets the user pick a color.',
    category: 'frontend',
    parameters: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  });
  t.match(pickColor, { idempotent: false, exclusive: false });
});

t.test('suspends each call of a client tool for the client', async (t) => {
  const call = { id: 'c1', name: 'pick_color', arguments: { prompt: 'Which?' } };
  t.strictSame(await gate(pickColor, call), { kind: 'suspend', ticket: clientTicket(call) });
});

t.test('never executes a client tool on the server', async (t) => {
  const result = await callTool(pickColor, { prompt: 'Which?' });
  t.match(result, {
    status: 'error',
    message: "Internal error: 'pick_color' is executed by the client",
  });
});
