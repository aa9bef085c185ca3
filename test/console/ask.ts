import type { Inference } from '../service/models.ts';
import { ADMIN_TOKEN, type Troupe } from '../service/troupe.ts';

/** Runs for the console to show. */

export const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** Its tools ask first. What its model says is put into `models.steps`; otherwise it repeats what was said. */
export const ASKS_FIRST = {
  id: 'asks-first',
  model_id: 'steps',
  system_prompt: 'Asks',
  plugin_ids: ['permission', 'observability'],
  max_rounds: 8,
  sections: { permission: { default_behavior: 'ask', rules: [] } },
};

export type Asked = { run_id: string; thread_id: string };

const asked = async (troupe: Troupe, until: 'its start' | 'its rest', body: object): Promise<Asked> => {
  const stream = await troupe.run(body);
  const { run_id, thread_id } = await stream.until('run_start');
  if (until === 'its rest') await stream.rest();
  else await stream.close();
  return { run_id: String(run_id), thread_id: String(thread_id) };
};

const bodyOf = (agentId: string, content: string, threadId?: string) => ({
  agentId,
  messages: [{ role: 'user', content }],
  ...(threadId !== undefined && { threadId }),
});

/** A run that goes on by itself. */
export const begin = (troupe: Troupe, agentId: string, content: string, threadId?: string): Promise<Asked> =>
  asked(troupe, 'its start', bodyOf(agentId, content, threadId));

/** A run that has ended, or that waits for somebody. */
export const ask = (troupe: Troupe, agentId: string, content: string, threadId?: string): Promise<Asked> =>
  asked(troupe, 'its rest', bodyOf(agentId, content, threadId));

/** The same for an agent whose model does this first. */
export const askWith = (troupe: Troupe, agentId: string, ...steps: Inference[]): Promise<Asked> => {
  troupe.models.steps.push(...steps);
  return ask(troupe, agentId, 'What is the weather?');
};

/** What the service says at a path. */
export const read = async (troupe: Troupe, path: string): Promise<Record<string, unknown>> =>
  (await troupe.call('GET', path, undefined, headers)).body;
