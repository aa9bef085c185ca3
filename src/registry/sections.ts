import { createDefaultPlugins } from '../plugins/context/plugin.ts';
import type { Plugin } from '../plugins/plugin.ts';
import type { AgentSpec } from '../schema/agent.ts';
import { hintOf } from '../schema/nearest.ts';

/**
 * Sections that nothing reads: no plugin of this service has the key, nor the runtime itself. They are kept as they
 * are, and told of: one letter too many in `permission` turns rules into a note.
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

/** Of one agent; more would say the same. */
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
        message: `agent '${id}' has a section '${short(key)}' that nothing reads${hintOf(key, 'sections', known)}`,
      })),
  );
};

const LONGEST = 100;

const short = (key: string): string => (key.length <= LONGEST ? key : `${key.slice(0, LONGEST)}…`);
