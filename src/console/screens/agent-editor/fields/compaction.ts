/** The section `compaction`, which no plugin describes: how old messages are summarized. */
export const COMPACTION = {
  type: 'object',
  required: ['summarizer_system_prompt', 'summarizer_user_prompt', 'min_savings_ratio'],
  properties: {
    mode: { enum: ['background', 'off'], default: 'background' },
    summarizer_system_prompt: { type: 'string', minLength: 1 },
    summarizer_user_prompt: { type: 'string', minLength: 1 },
    summary_max_tokens: { type: 'integer', minimum: 1, default: 1024 },
    min_savings_ratio: { type: 'number', minimum: 0, maximum: 1 },
    summary_model: { type: 'string', minLength: 1 },
  },
};

export const FIRST_COMPACTION = {
  mode: 'background',
  summarizer_system_prompt: 'You summarise conversations: facts, decisions and open questions, in few words.',
  summarizer_user_prompt: 'Summary so far:\n{previous_summary}\n\nMessages:\n{messages}',
  summary_max_tokens: 1024,
  min_savings_ratio: 0.3,
  raw_retention: 'preserve_durable',
};
