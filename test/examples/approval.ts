import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { createTroupe, defineProvider, defineTool, textOf } from '../../src/index.ts';
import { ask } from './ask.ts';

/** A tool that needs approval for some arguments. In your own program, import from 'troupe'. */

const transfer = defineTool({
  id: 'transfer',
  description: 'Transfers money to a person.',
  input: z.object({ to: z.string(), amount: z.number().positive() }),
  needsApproval: ({ amount }) => amount > 100,
  execute: ({ to, amount }) => ({ data: { to, amount }, message: `${amount} went to ${to}` }),
});

/** Replaces a real model: it calls the tool, then reports the result. */
const teller = defineProvider({
  id: 'teller',
  stream: async ({ messages }, sink) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') {
      sink.text(`Done: ${textOf(last.content)}`);
      return { stop: 'EndTurn' };
    }
    sink.toolStart('call_1', 'transfer');
    sink.toolEnd('call_1', JSON.stringify({ to: 'Ada', amount: 500 }));
    return { stop: 'ToolUse' };
  },
});

/** The fields of a run that this program reads. */
const Run = z.object({
  status: z.string(),
  final_output: z.string().optional(),
  waiting: z
    .object({ tickets: z.array(z.object({ tool_name: z.string(), arguments: z.json() })) })
    .optional(),
});

const troupe = await createTroupe({
  settings: {
    http_addr: '127.0.0.1:0',
    storage_dir: process.argv[2] ?? './data',
    AdminApiConfig: { bearer_token: 'choose-one' },
  },
  tools: [transfer],
  providers: [teller],
  models: [{ id: 'teller', provider_id: 'teller', upstream_model: 'teller' }],
  agents: [{ id: 'bank', model_id: 'teller', allowed_tools: ['transfer'] }],
});

const { events } = await ask(troupe.url, 'bank', 'Send 500 to Ada');
const { run_id, termination } = events.at(-1);
const run = async () => Run.parse(await (await fetch(`${troupe.url}/v1/runs/${run_id}`)).json());
const [ticket] = (await run()).waiting?.tickets ?? [];
console.log(termination.type, ticket?.tool_name, ticket?.arguments);

// Hours may pass here, and the service may restart: the waiting run is stored.
await fetch(`${troupe.url}/v1/runs/${run_id}/decision`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ toolCallId: 'call_1', action: 'resume', payload: { approved: true } }),
});
let done = await run();
while (done.status !== 'done') {
  await pause(20);
  done = await run();
}
console.log(done.final_output);
await troupe.stop();
