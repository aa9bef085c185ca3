import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { JsonObject } from '../schema/json.ts';
import { Invalid } from '../schema/outcome.ts';
import { phrasesOnce } from '../schema/phrases.ts';
import { problemsOf } from '../schema/problems.ts';

/**
 * The file that changes seeded agents (setting `seed.agents_file`): their prompts, and the components that `a2ui` may
 * render. `catalog` is the URL of a component catalog, or a whole section `generative-ui`.
 */

const AgentsFile = z.strictObject({
  agents: z.record(
    z.string(),
    z.strictObject({
      system_prompt: z.string().optional(),
      catalog: z.union([z.string(), JsonObject]).optional(),
    }),
  ),
});
export type AgentChanges = z.infer<typeof AgentsFile>['agents'];

/** @throws Invalid with the name of the file */
export const readAgentsFile = (path: string): AgentChanges => {
  const parsed = AgentsFile.safeParse(contentOf(path), phrasesOnce);
  if (parsed.success) return parsed.data.agents;
  throw new Invalid(`seed.agents_file ${path}: ${problemsOf(parsed.error).join('; ')}`);
};

const contentOf = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Invalid(`seed.agents_file ${path} cannot be read: ${reason}`, { cause });
  }
};
