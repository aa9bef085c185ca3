import { pathToFileURL } from 'node:url';
import { z } from 'zod';

/**
 * `rounds-server INDEX DIR ROUNDS`: a service of that build, with an agent that calls two tools a round, so many
 * rounds long, and then answers.
 */

const [index = '', storage_dir = '', rounds = ''] = process.argv.slice(2);

// The build has the exports of this tree's index.
const { createTroupe, defineProvider, defineTool } = (await import(
  pathToFileURL(index).href
)) as typeof import('../../src/index.ts');

const TOOLS = ['first', 'second'];

/** An assistant message and the results of its calls. */
const MESSAGES_A_ROUND = 1 + TOOLS.length;

const caller = defineProvider({
  id: 'bench-rounds',
  stream: async ({ messages }, sink) => {
    const round = Math.floor(messages.length / MESSAGES_A_ROUND);
    if (round >= Number(rounds)) {
      sink.text('Done.');
      return { stop: 'EndTurn' };
    }
    for (const tool of TOOLS) {
      const id = `${tool}_${round}`;
      sink.toolStart(id, tool);
      sink.toolEnd(id, JSON.stringify({ round }));
    }
    return { stop: 'ToolUse' };
  },
});

const troupe = await createTroupe({
  settings: {
    http_addr: '127.0.0.1:0',
    storage_dir,
    durability: 'process',
    shutdown_timeout_ms: 0,
    AdminApiConfig: { bearer_token: 'bench' },
  },
  providers: [caller],
  models: [{ id: 'bench-rounds', provider_id: 'bench-rounds', upstream_model: 'bench-rounds' }],
  tools: TOOLS.map((id) =>
    defineTool({
      id,
      description: `The ${id} of two tools.`,
      input: z.object({ round: z.int() }),
      idempotent: true,
      execute: ({ round }) => ({ data: { round, text: 'It is seven degrees in Oslo, with some rain.' } }),
    }),
  ),
  agents: [{ id: 'bench-rounds', model_id: 'bench-rounds', max_rounds: 0, allowed_tools: TOOLS }],
});
process.stdout.write(`listens on ${troupe.url}\n`);
process.on('SIGTERM', () => troupe.stop().then(() => process.exit()));
process.on('disconnect', () => process.exit());
