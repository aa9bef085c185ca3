import { MODEL_SETTINGS } from '../../schema/model-setting-names.ts';

/** Hints for the settings of model calls, which agents and models share. */

const LAST = ['stop', 'provider_options'];

/** The settings except the reasoning effort, which the forms show elsewhere; multi-line inputs come last. */
export const MODEL_FIELDS = [
  ...MODEL_SETTINGS.filter((name) => name !== 'reasoning_effort' && !LAST.includes(name)),
  ...LAST,
];

export const MODEL_UI = {
  stop: { 'ui:widget': 'lines' },
  parallel_tool_calls: { 'ui:widget': 'select' },
  // A number is another form of the budget.
  reasoning_effort: { 'ui:skip': ['number'], 'ui:start': { budget: { budget: 4096 } } },
};
