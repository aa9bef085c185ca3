import { z } from 'zod';
import { Invalid } from '../../schema/outcome.ts';
import { type StateView, update } from '../../tools/state.ts';
import type { Json } from '../../tools/tool.ts';
import { definePlugin } from '../define.ts';
import type { HookContext, HookOutcome, InferenceOutcome, PluginParts, ScheduledAction } from '../plugin.ts';
import { createPolicy, type Policy } from './policy.ts';
import { type DeferredTools, deferredToolsSection } from './section.ts';
import { beliefsKey, type Modes, modesKey, registryKey, usageKey } from './state.ts';
import { createToolSearch, TOOL_SEARCH } from './tool-search.ts';
import { observeTurn } from './usage.ts';

/**
 * Deferred tools (agent-loop.md 14.4): rarely used tools are listed in one line instead of being sent with their
 * schemas, and the model loads those that it needs with `ToolSearch`.
 *
 * Relies on: the actions of a phase are handled in the order in which they were scheduled, and each sees the changes of
 * earlier ones. A promotion from the last step is therefore in effect when `apply` reads the modes.
 * Covers the tools that the agent has when its plugins are created; tools that join later are always visible.
 * Costs: one state update per step, whose size grows with the number of tools that the thread has used.
 */

const ID = 'ext-deferred-tools';
const PROMOTE = `${ID}:promote` as const;
const DEFER = `${ID}:defer` as const;
const APPLY = `${ID}:apply` as const;

export const deferredToolsPlugin = definePlugin({
  id: ID,
  section: deferredToolsSection,
  state: [registryKey, modesKey, usageKey, beliefsKey],
  offers: [createToolSearch({ searchable: () => [], promoteKey: PROMOTE }).descriptor],
  create: (config, about) => {
    const tools = about.tools.filter(({ id }) => id !== TOOL_SEARCH);
    const policy = createPolicy(config, tools);
    return (config.enabled ?? policy.saving > config.beta_overhead)
      ? enabledParts(config, policy, new Set(tools.map(({ id }) => id)))
      : // Other plugins may promote or defer a tool even if deferring is disabled.
        { actions: { [PROMOTE]: () => undefined, [DEFER]: () => undefined } };
  },
});

const enabledParts = (config: DeferredTools, policy: Policy, known: ReadonlySet<string>): PluginParts => ({
  tools: [
    createToolSearch({ searchable: (state) => policy.searchable(modesIn(state)), promoteKey: PROMOTE }),
  ],
  hooks: {
    before_inference: () => ({ actions: [{ key: APPLY, payload: null }] }),
    after_inference: (context) => learn(config, policy, known, context),
  },
  actions: {
    [PROMOTE]: (payload, { state }) => ({
      state: [
        update(modesKey, policy.promote(modesIn(state), idsOf(payload), state.get(usageKey)?.turns ?? 0)),
      ],
    }),
    [DEFER]: (payload, { state }) => ({
      state: [update(modesKey, policy.defer(modesIn(state), idsOf(payload)))],
    }),
    [APPLY]: (_, context) => hideDeferred(policy, context),
  },
});

/** Counts the turn, and hides promoted tools that no longer pay off. */
const learn = (
  config: DeferredTools,
  policy: Policy,
  known: ReadonlySet<string>,
  { state, inference }: HookContext & { inference: InferenceOutcome },
): HookOutcome => {
  const used = new Set(inference.calls.map(({ name }) => name).filter((name) => known.has(name)));
  const before = {
    stats: state.get(usageKey) ?? { turns: 0, uses: {} },
    beliefs: state.get(beliefsKey) ?? {},
  };
  const { stats, beliefs } = observeTurn(config, before, used);
  const modes = modesIn(state);
  const cooled = policy.cool(modes, beliefs, stats.turns);
  const changed = Object.keys(cooled.promoted).length !== Object.keys(modes.promoted).length;
  return {
    state: [
      update(usageKey, stats),
      ...(used.size > 0 ? [update(beliefsKey, beliefs)] : []),
      ...(changed ? [update(modesKey, cooled)] : []),
    ],
  };
};

const modesIn = (state: StateView): Modes => state.get(modesKey) ?? { promoted: {}, deferred: [] };

const Ids = z.array(z.string());

const idsOf = (payload: Json): string[] => {
  const ids = Ids.safeParse(payload);
  if (!ids.success) throw new Invalid('expected a list of tool ids');
  return ids.data;
};

/** Removes the deferred tools from this request and lists them instead. */
const hideDeferred = (policy: Policy, { state, tools }: HookContext): HookOutcome => {
  const modes = modesIn(state);
  const listed = tools()
    .map(({ id }) => id)
    .filter((id) => policy.isDeferred(modes, id));
  const registry = { tools: policy.searchable(modes).map(({ id }) => id), listed };
  const before = state.get(registryKey);
  return {
    actions: [
      ...listed.map((id): ScheduledAction => ({ key: 'runtime.exclude_tool', payload: id })),
      ...listOf(listed, before?.listed ?? []),
    ],
    ...(JSON.stringify(before) !== JSON.stringify(registry) && { state: [update(registryKey, registry)] }),
  };
};

/** When the list becomes empty, a message for this request only replaces it. */
const listOf = (listed: readonly string[], before: readonly string[]): ScheduledAction[] => {
  if (listed.length === 0 && before.length === 0) return [];
  const content =
    listed.length > 0
      ? `These tools exist but are not loaded; load those you need with ${TOOL_SEARCH} before calling them:\n${listed.join(', ')}`
      : `All tools are loaded; there is nothing to find with ${TOOL_SEARCH}.`;
  return [
    {
      key: 'runtime.add_context_message',
      payload: { key: 'deferred_tools.list', target: 'system', content, persistent: listed.length > 0 },
    },
  ];
};
