import { Invalid } from '../../schema/outcome.ts';
import type { RuntimeDeps } from '../deps.ts';

/**
 * Returns when the definition of a tool last changed, undefined if it never did. The published agent has the present
 * definition; that of the run may be older.
 */
export const toolChangedAt = (
  { resolve }: Pick<RuntimeDeps, 'resolve'>,
  { agent_id, tool }: { agent_id: string; tool: string },
): number | undefined => {
  try {
    return resolve(agent_id).tools.get(tool)?.changed_at;
  } catch (error) {
    // The agent was deleted, or exists for its own runs only.
    if (error instanceof Invalid) return undefined;
    throw error;
  }
};
