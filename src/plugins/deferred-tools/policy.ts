import { compileGlob } from '../../schema/glob.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import { savingOf } from './cost.ts';
import type { DeferredTools } from './section.ts';
import type { Beliefs, Modes } from './state.ts';
import { breakEvenRate, usageRate } from './usage.ts';

/**
 * Decides which tools of an agent are deferred (agent-loop.md 14.4): the section sets the default, and promotions and
 * deferrals on the thread are exceptions. Pure: state is passed in and returned.
 */
export type Policy = {
  /** Tokens that a request saves without any exceptions. */
  readonly saving: number;
  isDeferred(modes: Modes, id: string): boolean;
  /** Tools that a search covers, including promoted ones. */
  searchable(modes: Modes): readonly ToolDescriptor[];
  promote(modes: Modes, ids: readonly string[], turn: number): Modes;
  defer(modes: Modes, ids: readonly string[]): Modes;
  /** Removes promotions that no longer pay off. */
  cool(modes: Modes, beliefs: Beliefs, turn: number): Modes;
};

export const createPolicy = (config: DeferredTools, tools: readonly ToolDescriptor[]): Policy => {
  const modeOf = ruleOf(config);
  const known = new Map(tools.map((tool) => [tool.id, tool]));
  const configured = new Set(tools.filter(({ id }) => modeOf(id) === 'deferred').map(({ id }) => id));
  const isDeferred = ({ promoted, deferred }: Modes, id: string) =>
    configured.has(id) ? !Object.hasOwn(promoted, id) : deferred.includes(id);

  const isCold = (id: string, promotedAt: number, beliefs: Beliefs, turn: number): boolean => {
    const tool = known.get(id);
    if (!tool) return true;
    const usedAt = Object.hasOwn(beliefs, id) ? (beliefs[id]?.turn ?? 0) : 0;
    if (turn - Math.max(promotedAt, usedAt) < config.disc_beta.defer_after) return false;
    const limit = config.disc_beta.thresh_mult * breakEvenRate(config.disc_beta, savingOf(tool));
    return usageRate(config, beliefs, id, turn) < limit;
  };

  return {
    saving: tools.filter(({ id }) => configured.has(id)).reduce((sum, tool) => sum + savingOf(tool), 0),
    isDeferred,
    searchable: (modes) => tools.filter(({ id }) => configured.has(id) || modes.deferred.includes(id)),
    promote: ({ promoted, deferred }, ids, turn) => ({
      promoted: {
        ...promoted,
        ...Object.fromEntries(ids.filter((id) => configured.has(id)).map((id) => [id, turn])),
      },
      deferred: deferred.filter((id) => !ids.includes(id)),
    }),
    defer: ({ promoted, deferred }, ids) => ({
      promoted: keep(promoted, (id) => !ids.includes(id)),
      deferred: [...new Set([...deferred, ...ids.filter((id) => known.has(id) && !configured.has(id))])],
    }),
    cool: ({ promoted, deferred }, beliefs, turn) => ({
      promoted: keep(promoted, (id, since) => !isCold(id, since, beliefs, turn)),
      deferred,
    }),
  };
};

const ruleOf = ({ rules, default_mode }: DeferredTools) => {
  const compiled = rules.map(({ tool, mode }) => ({ matches: compileGlob(tool), mode }));
  return (id: string) => compiled.find(({ matches }) => matches(id))?.mode ?? default_mode;
};

const keep = (
  promoted: Modes['promoted'],
  wanted: (id: string, since: number) => boolean,
): Modes['promoted'] =>
  Object.fromEntries(Object.entries(promoted).filter(([id, since]) => wanted(id, since)));
