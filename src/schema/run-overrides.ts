import { z } from 'zod';
import { nullsAbsent } from './endpoint.ts';
import { modelSettingFields, pickModelSettings, ReasoningEffort } from './model-settings.ts';

/** Settings of the model calls of one run: as requested, and as stored with the run (agent-loop.md 1.6). */

const { temperature, max_tokens, top_p, reasoning_effort, ...laterSettings } = modelSettingFields;

/** Five keys are always present, `null` when unset; the others only when they are set. */
export const InferenceOverrides = z.object({
  upstream_model: z.string().nullable(),
  temperature: temperature.unwrap().nullable(),
  max_tokens: max_tokens.unwrap().nullable(),
  top_p: top_p.unwrap().nullable(),
  reasoning_effort: ReasoningEffort.nullable(),
  ...laterSettings,
});
export type InferenceOverrides = z.infer<typeof InferenceOverrides>;

const OverrideFields = z.strictObject({
  upstream_model: z
    .string()
    .refine((name) => name.trim() !== '', 'inference override upstream_model cannot be empty')
    .optional()
    .meta({ description: 'name of another model at the same provider; not for model pools' }),
  ...modelSettingFields,
});

/** The overrides in a request. */
export const RunOverrides = nullsAbsent(OverrideFields).meta({
  id: 'RunOverrides',
  description:
    'Settings of the model calls of this run; they take precedence over those of the agent and its model. Null is unset.',
});
export type RunOverrides = z.infer<typeof RunOverrides>;
/**
 * Settings of the model calls of one run, which take precedence over those of the agent and its model (agent-loop.md
 * 1.6). Null is unset.
 *
 * @example
 * ```ts
 * const overrides: RunOverridesInput = { temperature: 0, max_tokens: 500, reasoning_effort: 'low' };
 * client.runs.stream({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }], overrides });
 * ```
 */
export type RunOverridesInput = z.input<typeof RunOverrides>;

export function inferenceOverrides({ upstream_model, ...settings }: RunOverrides): InferenceOverrides {
  const { temperature, max_tokens, top_p, reasoning_effort, ...others } = settings;
  return {
    upstream_model: upstream_model ?? null,
    temperature: temperature ?? null,
    max_tokens: max_tokens ?? null,
    top_p: top_p ?? null,
    reasoning_effort: reasoning_effort ?? null,
    ...pickModelSettings(others),
  };
}
