import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { startApp } from '../../src/app.ts';
import type { Model } from '../../src/models/model.ts';
import { createLog } from '../../src/observability/log.ts';
import { textOf } from '../../src/schema/message.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { HTTP_SERVER } from '../http/listener.ts';
import { ADMIN_TOKEN } from './troupe.ts';

/**
 * A service in its own process that reports the positions of its runs, so that a test can kill it there. The user
 * message selects the plan of a run, and tools append to the file `executed`. With `stops` every plan halts at its
 * position; without it, the plan runs to its end. With a database, the service is a member of a cluster.
 */

const [dir = '', executed = '', how = '', database = ''] = process.argv.slice(2);
const stops = how === 'stops';

const TTL_MS = 5000;

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const stopAt = async (place: string): Promise<void> => {
  say(`at ${place}`);
  if (stops) await new Promise(() => {});
};

const tool = (id: string, more: { idempotent?: boolean; needsApproval?: boolean; stopsAt?: string }): Tool =>
  defineTool({
    id,
    description: id,
    input: z.object({}),
    ...more,
    async execute(_, { call_id }) {
      appendFileSync(executed, `${call_id}\n`);
      if (more.stopsAt !== undefined) await stopAt(more.stopsAt);
      return { data: `did ${call_id}` };
    },
  });

/** The plans whose runs start with a call of this tool. */
const TOOL_OF: Record<string, string> = {
  'in a tool': 'pay',
  'in a harmless tool': 'lookup',
  'in the second step': 'note',
  'while it waits': 'risky',
  'right after a decision': 'risky',
  'with steered input': 'lookup',
};

const stream: Model['stream'] = async ({ messages }, sink) => {
  const last = messages.at(-1);
  const plan = textOf(messages.findLast(({ role }) => role === 'user')?.content ?? []);
  const name = TOOL_OF[plan];
  if (plan === 'before its first token') await stopAt(plan);
  if (last?.role === 'user' && plan === 'beside finished calls') {
    for (const [id, called] of [
      ['first', 'note'],
      ['second', 'pay'],
      ['third', 'note'],
    ] as const) {
      sink.toolStart(`call ${id}`, called);
      sink.toolEnd(`call ${id}`, '{}');
    }
    return { stop: 'ToolUse' };
  }
  if (last?.role === 'user' && name !== undefined) {
    sink.toolStart(`call ${plan}`, name);
    sink.toolEnd(`call ${plan}`, '{}');
    return { stop: 'ToolUse' };
  }
  if (plan === 'in the second step') {
    if (stops) sink.text('half');
    await stopAt(plan);
  }
  sink.text(`answer: ${plan}`);
  return { stop: 'EndTurn' };
};

const app = await startApp({
  settings: settingsFrom({
    http_addr: '127.0.0.1:0',
    http_server: HTTP_SERVER,
    storage_dir: dir,
    ...(database !== '' && { database: { url: database }, cluster: { lease_ttl_ms: TTL_MS } }),
    AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_trace_routes: true },
    observe_all_agents: true,
    trace: { sampling_disable: true },
    seed: { profile: 'minimal' },
    default_agent_id: 'planned',
    entries: {
      models: [{ id: 'm', provider_id: 'plans', upstream_model: 'm' }],
      agents: [{ id: 'planned', model_id: 'm' }],
    },
  }),
  log: createLog({ level: 'silent' }),
  providers: [{ id: 'plans', model: ({ id }) => ({ id, provider: 'plans', upstream: id, stream }) }],
  tools: [
    tool('pay', { stopsAt: 'in a tool' }),
    tool('lookup', { idempotent: true, stopsAt: 'in a harmless tool' }),
    tool('note', {}),
    tool('risky', { needsApproval: true }),
  ],
});
// A member that was killed has the data until its lease is over.
while (database !== '' && app.member()?.state !== 'active') await setTimeout(20);
say(`listens on ${app.url}`);
