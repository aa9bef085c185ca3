import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../schema/endpoint.ts';

/** Drafts an agent from a stated intent (config.md 11.4). Equal input gives equal drafts. */

const text = (description: string) => z.string().trim().min(1).describe(description);
const texts = (description: string) => z.array(z.string()).describe(description);

/** Only the intent is required. */
export const DraftInput = z.strictObject({
  intent: text('What the agent is for, in the words of the user'),
  id: text('Id of the agent; default: made from the intent').optional(),
  model_id: text('Id of a model or a model pool; default: the model of this assistant').optional(),
  system_prompt: text('Instructions of the agent; default: made from the intent').optional(),
  plugin_ids: texts('Ids of plugins; default: none').optional(),
  allowed_tools: texts('Ids of the only tools it may use; default: every tool').optional(),
  delegates: texts('Ids of agents that it may call as tools; default: none').optional(),
});
type DraftInput = z.output<typeof DraftInput>;

const MAX_ROUNDS = 8;

export const draftAgent = ({ intent, ...given }: DraftInput, model_id: string): JsonObject => ({
  id: given.id ?? idFrom(intent),
  model_id: given.model_id ?? model_id,
  system_prompt: given.system_prompt ?? promptFrom(intent),
  max_rounds: MAX_ROUNDS,
  ...(given.plugin_ids && { plugin_ids: given.plugin_ids }),
  ...(given.allowed_tools && { allowed_tools: given.allowed_tools }),
  ...(given.delegates && { delegates: given.delegates }),
});

const MOST_WORDS = 4;
const LONGEST_WORD = 24;
const HASH_DIGITS = 8;

const idFrom = (intent: string): string => {
  const words = intent.toLowerCase().match(/[a-z0-9]+/g) ?? ['draft'];
  const hash = createHash('sha256').update(intent).digest('hex').slice(0, HASH_DIGITS);
  const named = words.slice(0, MOST_WORDS).map((word) => word.slice(0, LONGEST_WORD));
  return ['agent', ...named, hash].join('-');
};

const promptFrom = (intent: string): string =>
  [
    'You are an assistant with this task:',
    intent,
    'Keep to the task. Ask when something that you need is missing, and say so when you cannot do or do not know something.',
  ].join('\n\n');
