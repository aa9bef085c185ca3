import type { Test } from 'tap';
import { asks, type Call } from './models.ts';
import { createTestTools, type TestTools } from './tools.ts';
import { type RunEventLike, startTroupe, type Troupe, type TroupeOptions } from './troupe.ts';

/** Suspended runs, and decisions on them. */

export const withTools = async (
  t: Test,
  options: TroupeOptions = {},
): Promise<{ troupe: Troupe; tools: TestTools }> => {
  const tools = createTestTools();
  return {
    tools,
    troupe: await startTroupe(t, {
      ...options,
      app: { ...options.app, tools: [...tools.tools, ...(options.app?.tools ?? [])] },
    }),
  };
};

/** A run of the agent `steps` that makes these calls and is suspended. */
export const suspend = async (
  { models, runToEnd }: Troupe,
  threadId: string,
  ...calls: Call[]
): Promise<{ run_id: string; events: RunEventLike[] }> => {
  models.steps.push(asks(...calls));
  const messages = [{ role: 'user', content: 'Hello' }];
  const events = await runToEnd({ agentId: 'steps', threadId, messages });
  return { run_id: String(events[0]?.run_id), events };
};

type Decision = { toolCallId: string; action: 'resume' | 'cancel'; payload?: unknown };

export const resume = (toolCallId: string, payload?: unknown): Decision => ({
  toolCallId,
  action: 'resume',
  payload,
});

export const decline = (toolCallId: string, payload?: unknown): Decision => ({
  toolCallId,
  action: 'cancel',
  payload,
});
