import type { InferenceRequest } from '../../models/model.ts';
import type { AgentSpec } from '../../schema/agent.ts';
import type { ContextPolicy } from '../../schema/context-policy.ts';
import { definePlugin } from '../define.ts';
import type { Plugin, Section } from '../plugin.ts';
import { compactionMarks } from './compaction-marks.ts';
import { isContextMessage } from './placed.ts';
import { effectivePolicy, type ModelLimits } from './policy.ts';
import {
  compactionSection,
  compactionSettings,
  contextTransformSection,
  knowledgeCutoffSection,
  retrySection,
  retrySettings,
} from './settings.ts';
import { transformMessages } from './transform.ts';

/**
 * The parts of the runtime that every agent has (agent-loop.md 14, "runtime defaults"), as plugins: their sections
 * are checked and shown like those of any other. An agent's `active_hook_filter` does not touch them
 * (config.md 3.1).
 */

/** What an agent's model is known to take, and where its knowledge ends (`YYYY-MM` or `YYYY-MM-DD`). */
export type ModelFacts = ModelLimits & { knowledge_cutoff?: string };

type Facts = { modelOf(agent: AgentSpec): ModelFacts };

export const createDefaultPlugins = (facts: Facts): readonly Plugin[] => [
  contextTransform(facts),
  knowledgeCutoff(facts),
  settingsOnly('retry', retrySection, retrySettings),
  { ...settingsOnly('compaction', compactionSection, compactionSettings), state: [compactionMarks] },
];

const contextTransform = ({ modelOf }: Facts): Plugin =>
  definePlugin({
    id: 'context_transform',
    section: contextTransformSection,
    create: ({ artifact_compaction: limits }, { agent }) => {
      if (!agent.context_policy) return {};
      const policy = effectivePolicy(agent.context_policy, modelOf(agent));
      return {
        transformRequest: (request) =>
          withCache({ ...request, messages: transformMessages(request, policy, limits) }, policy),
      };
    },
  });

/** Context messages at the end are new in every step; all before them comes again. */
const withCache = (request: InferenceRequest, { enable_prompt_cache }: ContextPolicy): InferenceRequest => {
  if (!enable_prompt_cache) return request;
  const stable_messages = request.messages.findLastIndex((message) => !isContextMessage(message)) + 1;
  return { ...request, cache: { stable_messages } };
};

const knowledgeCutoff = ({ modelOf }: Facts): Plugin =>
  definePlugin({
    id: 'knowledge_cutoff_context',
    section: knowledgeCutoffSection,
    create: ({ enabled }, { agent }) => {
      const { knowledge_cutoff: cutoff } = modelOf(agent);
      if (!enabled || cutoff === undefined) return {};
      return {
        hooks: {
          before_inference: ({ now }) => ({
            actions: [
              {
                key: 'runtime.add_context_message',
                payload: {
                  key: 'knowledge_cutoff.context',
                  target: 'system',
                  priority: -100,
                  content: datesText(now(), cutoff),
                },
              },
            ],
          }),
        },
      };
    },
  });

const datesText = (now: number, cutoff: string): string =>
  `Today is ${new Date(now).toISOString().slice(0, 10)} (UTC). Your knowledge ends at ${cutoff}: what happened since then you know only from this conversation and from tools.`;

/** Others read these settings; here they are only checked. */
const settingsOnly = (
  id: string,
  section: Section<unknown>,
  check: (agent: AgentSpec) => unknown,
): Plugin => ({
  id,
  sections: [section],
  state: [],
  parts: ({ agent }) => {
    check(agent);
    return {};
  },
});
