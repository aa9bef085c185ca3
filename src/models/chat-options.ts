/** Differences between the services that implement Chat Completions. */
export type ChatOptions = {
  /**
   * `openai`: OpenAI's own service or Azure. It supports efforts above `high` for every model, and its reasoning models
   * take system texts as `developer`. `any`: another service, which may forward requests to OpenAI.
   */
  service: 'openai' | 'any';
  /** Whether the service accepts `prompt_cache_key`. */
  cacheKey: boolean;
  /**
   * The model's own reasoning in requests. `none`: nothing. `returned`: the reasoning that the model streamed, in the
   * field in which it arrived. `required`: the same, and a message with calls but without reasoning gets an empty one,
   * because the service rejects a request without the field.
   */
  reasoning: 'none' | 'returned' | 'required';
  /** Whether the `cost` in a usage is the price that the service charges for the completion, in USD. */
  reportsCost?: boolean;
};

/** OpenAI and Azure. */
export const OPENAI_CHAT: ChatOptions = { service: 'openai', cacheKey: true, reasoning: 'none' };

/** The `openai` adapter with a base URL other than OpenAI's. */
export const FOREIGN_CHAT: ChatOptions = { service: 'any', cacheKey: true, reasoning: 'returned' };

export const COMPATIBLE_CHAT: ChatOptions = { service: 'any', cacheKey: false, reasoning: 'returned' };

export const DEEPSEEK_CHAT: ChatOptions = { service: 'any', cacheKey: false, reasoning: 'required' };
