import { createResolver, type Resolved } from '../configuration/agents.ts';
import type { LiveModels } from '../configuration/control-plane/live.ts';
import { AgentSpec } from '../schema/agent.ts';
import { createCatalogue } from '../tools/catalogue.ts';
import type { SubAgents } from '../tools/sub-agent.ts';
import type { Tool } from '../tools/tool.ts';

/**
 * The agent of the assistant, created for each run from the live models and a separate catalog that contains only its
 * tools. It is in no registry, so it cannot be referenced, listed or extended.
 */

export const ASSISTANT_ID = '__admin_assistant';

const MAX_ROUNDS = 8;

export const assistantAgent = (
  { target, resolution_id }: LiveModels,
  { model_id, system_prompt, tools }: { model_id: string; system_prompt: string; tools: readonly Tool[] },
): Resolved =>
  createResolver({
    models: { target },
    catalogue: createCatalogue(tools),
    plugins: new Map(),
    agents: new Map(),
    subAgents: NO_SUB_AGENTS,
    resolution_id,
  })(AgentSpec.parse({ id: ASSISTANT_ID, model_id, system_prompt, max_rounds: MAX_ROUNDS }));

const refuse = (): Promise<never> => Promise.reject(new Error('the admin assistant does not delegate'));

const NO_SUB_AGENTS: SubAgents = { start: refuse, proceed: refuse, end: () => {} };
