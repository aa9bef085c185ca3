import type { Inference } from '../service/models.ts';
import { ADMIN_TOKEN, type Troupe } from '../service/troupe.ts';

/** Runs that the console shows. */

export const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** An agent whose tools require approval. Its model executes `models.steps`, and otherwise repeats the prompt. */
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

/** Starts a run and returns before it ends. */
export const begin = (troupe: Troupe, agentId: string, content: string, threadId?: string): Promise<Asked> =>
  asked(troupe, 'its start', bodyOf(agentId, content, threadId));

/** Starts a run and waits until it has ended or is suspended. */
export const ask = (troupe: Troupe, agentId: string, content: string, threadId?: string): Promise<Asked> =>
  asked(troupe, 'its rest', bodyOf(agentId, content, threadId));

/** Like `ask`, for an agent whose model executes these steps first. */
export const askWith = (troupe: Troupe, agentId: string, ...steps: Inference[]): Promise<Asked> => {
  troupe.models.steps.push(...steps);
  return ask(troupe, agentId, 'What is the weather?');
};

/** Reads a path of the service. */
export const read = async (troupe: Troupe, path: string): Promise<Record<string, unknown>> =>
  (await troupe.call('GET', path, undefined, headers)).body;
