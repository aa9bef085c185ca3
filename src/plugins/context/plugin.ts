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
 * The parts of the runtime that every agent has (agent-loop.md 14, "runtime defaults"), as plugins: their sections are
 * checked and listed like those of any other plugin. The `active_hook_filter` of an agent does not affect them
 * (config.md 3.1).
 */

/** Limits of the model, and its knowledge cutoff (`YYYY-MM` or `YYYY-MM-DD`). */
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

/** Trailing context messages are new in every step; everything before them is sent again. */
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

/** A plugin that only checks settings; other modules read them. */
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
