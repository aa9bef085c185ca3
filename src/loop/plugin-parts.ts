import type { HookContext, HookOutcome, Phase, PluginParts } from '../plugins/plugin.ts';
import type { ResolvedAgent } from './agent.ts';

/** What the plugins of an agent do, by when they do it: sorted once for each agent, and not in every phase of a run. */

/** What a phase has beside the common context is given by its one caller, as the contract of hooks says. */
export type AnyHook = (
  context: HookContext & object,
) => HookOutcome | undefined | Promise<HookOutcome | undefined>;

type SortedParts = {
  hooks: ReadonlyMap<Phase, readonly { plugin: string; hook: AnyHook }[]>;
  gates: readonly NonNullable<PluginParts['gate']>[];
  transforms: readonly NonNullable<PluginParts['transformRequest']>[];
};

const sorted = new WeakMap<ResolvedAgent['plugins'], SortedParts>();

/** In the order of the plugins. */
export const partsOf = ({ plugins }: Pick<ResolvedAgent, 'plugins'>): SortedParts => {
  const known = sorted.get(plugins);
  if (known) return known;
  const hooks = new Map<Phase, { plugin: string; hook: AnyHook }[]>();
  for (const { id, parts } of plugins) {
    for (const [phase, hook] of Object.entries(parts.hooks ?? {}) as [Phase, AnyHook | undefined][]) {
      if (hook) hooks.set(phase, [...(hooks.get(phase) ?? []), { plugin: id, hook }]);
    }
  }
  const made: SortedParts = {
    hooks,
    gates: plugins.flatMap(({ parts }) => (parts.gate ? [parts.gate.bind(parts)] : [])),
    transforms: plugins.flatMap(({ parts }) => parts.transformRequest?.bind(parts) ?? []),
  };
  sorted.set(plugins, made);
  return made;
};
