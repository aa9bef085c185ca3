import { Invalid } from '../schema/outcome.ts';
import type { Tool } from './tool.ts';
import { compileToolRules, type ToolRules } from './tool-rules.ts';

/** All tools of a deployment, and the selection for an agent (agent-loop.md 1.3). */

export type Catalogue = {
  get(id: string): Tool | undefined;
  all(): Tool[];
  /** Returns the tools that the rules allow and do not exclude, by id. Throws `Invalid` for a broken pattern. */
  select(rules: ToolRules): Map<string, Tool>;
};

/** Throws `Invalid` if two tools have the same id. */
export const createCatalogue = (tools: readonly Tool[]): Catalogue => {
  const byId = new Map<string, Tool>();
  for (const tool of tools) {
    const { id } = tool.descriptor;
    if (byId.has(id)) throw new Invalid(`tool ID conflict: "${id}" registered by both global and global`);
    byId.set(id, tool);
  }
  return {
    get: (id) => byId.get(id),
    all: () => [...byId.values()],
    select: (rules) => {
      const offered = compileToolRules(rules);
      return new Map([...byId].filter(([id]) => offered(id)));
    },
  };
};
