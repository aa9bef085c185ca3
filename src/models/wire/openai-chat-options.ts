/** What differs between the services that speak Chat Completions. */
export type ChatOptions = {
  /**
   * `openai`: OpenAI's own service or Azure. It has efforts above `high` for every model, and its reasoning models
   * take system texts as `developer`. `any`: another service, which may pass requests on to OpenAI.
   */
  service: 'openai' | 'any';
  /** The service accepts `prompt_cache_key`. */
  cacheKey: boolean;
  /**
   * What requests contain of the model's own reasoning. `none`: nothing. `returned`: what the model streamed, under
   * the name of the field in which it came. `required`: the same, and a message with calls that has no reasoning
   * gets an empty one, because the service rejects a request without the field.
   */
  reasoning: 'none' | 'returned' | 'required';
  /** The `cost` of a usage is what the service charges for the answer, in USD. */
  reportsCost?: boolean;
};

/** OpenAI and Azure. */
export const OPENAI_CHAT: ChatOptions = { service: 'openai', cacheKey: true, reasoning: 'none' };

/** A base URL of the `openai` adapter that is not OpenAI's. */
export const FOREIGN_CHAT: ChatOptions = { service: 'any', cacheKey: true, reasoning: 'returned' };

export const COMPATIBLE_CHAT: ChatOptions = { service: 'any', cacheKey: false, reasoning: 'returned' };

export const DEEPSEEK_CHAT: ChatOptions = { service: 'any', cacheKey: false, reasoning: 'required' };
