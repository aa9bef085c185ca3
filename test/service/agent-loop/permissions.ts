import type { Test } from 'tap';
import { digestOfCall } from '../../../src/schema/call-digest.ts';
import type { Json } from '../../../src/schema/json.ts';
import { asks, type Call } from '../models.ts';
import { createTestTools } from '../tools.ts';
import type { Troupe } from '../troupe.ts';
import { viewOf } from '../view.ts';
import { endOf, say, startWith } from './agents.ts';

/** Agents whose calls need approval, and decisions on them. */

export type Rule = { tool: string; behavior: string; timeout_secs?: number; on_timeout?: string };

export const guarded = (rules: Rule[], more: object = {}, default_behavior = 'deny') => ({
  id: 'own',
  model_id: 'steps',
  plugin_ids: ['permission'],
  sections: { permission: { default_behavior, rules } },
  ...more,
});

export const decide = (troupe: Troupe, toolCallId: string, action: string, payload?: unknown) =>
  troupe.post('/v1/threads/T/decision', { toolCallId, action, payload });

/** Approves the call with other arguments. */
export const decideEdited = (
  troupe: Troupe,
  toolCallId: string,
  { tool, arguments: edited }: { tool: string; arguments: Json },
) =>
  troupe.post('/v1/threads/T/decision', {
    toolCallId,
    action: 'resume',
    payload: { approved: true, arguments: edited },
    digest: digestOfCall({ tool, arguments: edited }),
  });

/** The logged events of one kind of the run, as they were streamed. */
export const logged = async (troupe: Troupe, run_id: unknown, kind: string) =>
  (await viewOf(troupe, 'T').events(run_id))
    .filter(({ event_kind }) => event_kind === kind)
    .map(({ payload }) => payload);

/** An agent that needs approval for `note`, and a run suspended at `calls`. */
export const asking = async (t: Test, rules: Rule[], ...calls: Call[]) => {
  const { tools, executed } = createTestTools();
  let shift = 0;
  const troupe = await startWith(t, {
    agents: [guarded(rules)],
    tools,
    clock: { now: () => Date.now() + shift },
  });
  troupe.models.steps.push(asks(...calls));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(endOf(events), { termination: { type: 'suspended' } });
  const pass = (ms: number): void => {
    shift += ms;
  };
  return { troupe, executed, events, run_id: events[0]?.run_id, pass };
};
