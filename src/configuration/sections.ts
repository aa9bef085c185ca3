import { createDefaultPlugins } from '../plugins/context/plugin.ts';
import type { Plugin } from '../plugins/plugin.ts';
import type { AgentSpec } from '../schema/agent.ts';
import { hintOf } from '../schema/nearest.ts';

/**
 * Reports sections that neither a plugin of this service nor the runtime reads. They are stored unchanged, and reported
 * because a typo in `permission` disables its rules.
 */

export type SectionWarning = {
  code: 'agent_unknown_section';
  severity: 'warning';
  resource: { namespace: 'agents'; id: string };
  message: string;
};

const keysOf = (plugins: readonly Plugin[]): string[] =>
  plugins.flatMap(({ sections }) => sections.map(({ key }) => key));

const RUNTIME = keysOf(createDefaultPlugins({ modelOf: () => ({}) }));

/** Limit of warnings per agent. */
const MOST = 20;

export const unknownSections = (
  agents: readonly Pick<AgentSpec, 'id' | 'sections'>[],
  plugins: readonly Plugin[],
): SectionWarning[] => {
  const known = [...new Set([...keysOf(plugins), ...RUNTIME])];
  const there = new Set(known);
  return agents.flatMap(({ id, sections }) =>
    Object.keys(sections)
      .filter((key) => !there.has(key))
      .slice(0, MOST)
      .map((key) => ({
        code: 'agent_unknown_section' as const,
        severity: 'warning' as const,
        resource: { namespace: 'agents' as const, id },
        message: `agent '${id}' has a section '${short(key)}' that no plugin reads${hintOf(key, 'sections', known)}`,
      })),
  );
};

const LONGEST = 100;

const short = (key: string): string => (key.length <= LONGEST ? key : `${key.slice(0, LONGEST)}…`);
