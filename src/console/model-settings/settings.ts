import { isObject } from '../data/guard.ts';

/** Settings of a model call, as agents and models have them. A field that is not set is left to the next layer. */

export const SETTINGS = [
  'temperature',
  'top_p',
  'max_tokens',
  'stop',
  'seed',
  'tool_choice',
  'parallel_tool_calls',
  'verbosity',
  'service_tier',
  'reasoning_effort',
  'provider_options',
] as const;

export const linesOf = (value: unknown): string => (Array.isArray(value) ? value.join('\n') : '');

/** A stop sequence may be white space, so only empty lines are left out. */
export const stopOf = (typed: string): string[] | undefined => {
  const lines = typed.split('\n').filter((line) => line !== '');
  return lines.length === 0 ? undefined : lines;
};

/** The option that a choice is shown as. */
export const choiceOf = (value: unknown): string => {
  if (isObject(value)) return 'tool';
  return typeof value === 'string' ? value : '';
};

export const toolOf = (value: unknown): string =>
  isObject(value) && typeof value.tool === 'string' ? value.tool : '';
