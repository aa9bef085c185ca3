/**
 * Names of the settings of a model call, in the order in which they are stored and shown. Pages load this module
 * without schemas.
 */
export const MODEL_SETTINGS = [
  'temperature',
  'top_p',
  'max_tokens',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'tool_choice',
  'parallel_tool_calls',
  'verbosity',
  'service_tier',
  'reasoning_effort',
  'provider_options',
] as const;
export type ModelSetting = (typeof MODEL_SETTINGS)[number];
