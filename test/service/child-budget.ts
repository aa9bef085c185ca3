import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { startApp } from '../../src/app.ts';
import type { Model } from '../../src/models/model.ts';
import { createLog } from '../../src/observability/log.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { HTTP_SERVER } from '../http/listener.ts';
import { STEP_TOKENS } from './budget-steps.ts';
import { ADMIN_TOKEN } from './troupe.ts';

/** A service in its own process whose runs have three steps of some milliseconds, so that a kill hits any of them. */

const [dir = ''] = process.argv.slice(2);

const stream: Model['stream'] = async ({ messages }, sink) => {
  await setTimeout(Math.random() * 8);
  const usage = { prompt_tokens: STEP_TOKENS.input, completion_tokens: STEP_TOKENS.output };
  const done = messages.filter(({ role }) => role === 'tool').length;
  if (done === 2) {
    sink.text('done');
    return { stop: 'EndTurn', usage };
  }
  sink.toolStart(`call ${done}`, 'note');
  sink.toolEnd(`call ${done}`, '{}');
  return { stop: 'ToolUse', usage };
};

const agents = ['spender', 'waiter'].map((id) => ({ id, model_id: 'm', allowed_tools: ['note'] }));

const app = await startApp({
  settings: settingsFrom({
    http_addr: '127.0.0.1:0',
    http_server: HTTP_SERVER,
    storage_dir: dir,
    durability: 'process',
    AdminApiConfig: { bearer_token: ADMIN_TOKEN },
    // However often a run is hit, it ends naturally.
    mailbox: { max_attempts: 1000 },
    default_agent_id: 'spender',
    entries: {
      models: [{ id: 'm', provider_id: 'own', upstream_model: 'm', max_tokens: 100 }],
      agents,
    },
  }),
  log: createLog({ level: 'silent' }),
  tools: [
    defineTool({ id: 'note', description: 'note', input: z.object({}), execute: () => ({ data: 'noted' }) }),
  ],
  providers: [{ id: 'own', model: ({ id }) => ({ id, provider: 'own', upstream: id, stream }) }],
});
process.stdout.write(`listens on ${app.url}\n`);
