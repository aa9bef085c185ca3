import type { HookContext, HookOutcome, Phase, PluginParts } from '../plugins/plugin.ts';
import type { ResolvedAgent } from './agent.ts';

/** The parts of an agent's plugins, grouped by type: once per agent, and not in every phase of a run. */

/** The additional fields of a phase's context are provided by its only caller, according to the contract of hooks. */
export type AnyHook = (
  context: HookContext & object,
) => HookOutcome | undefined | Promise<HookOutcome | undefined>;

type SortedParts = {
  hooks: ReadonlyMap<Phase, readonly { plugin: string; hook: AnyHook }[]>;
  gates: readonly NonNullable<PluginParts['gate']>[];
  transforms: readonly NonNullable<PluginParts['transformRequest']>[];
};

const sorted = new WeakMap<ResolvedAgent['plugins'], SortedParts>();

/** Each list is in the order of the plugins. */
export const sortedParts = ({ plugins }: Pick<ResolvedAgent, 'plugins'>): SortedParts => {
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
