import { createResolver, type Resolved } from '../registry/agents.ts';
import type { LiveModels } from '../registry/config/live.ts';
import { AgentSpec } from '../schema/agent.ts';
import { createCatalogue } from '../tools/catalogue.ts';
import type { SubAgents } from '../tools/sub-agent.ts';
import type { Tool } from '../tools/tool.ts';

/**
 * The agent that the assistant is, made for each run: live models, and a catalogue of its own in which there are its
 * tools and no others. No registry has ever heard of it, so nothing can name it, list it or give it anything.
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
