import { z } from 'zod';
import { JsonObject } from './json.ts';
import { MODEL_SETTINGS, type ModelSetting } from './model-setting-names.ts';
import { providerOptionsProblem } from './provider-options.ts';

/**
 * Settings of a model call, shared by agents, models and requests for a run. A setting of the run replaces that of the
 * agent, which replaces that of the model.
 */

export const ReasoningEffort = z.union([
  z.enum(['none', 'low', 'medium', 'high', 'max']),
  z.strictObject({ budget: z.int().nonnegative().max(4_294_967_295) }),
]);
export type ReasoningEffort = z.infer<typeof ReasoningEffort>;

/**
 * `none`: the model cannot call a tool. `required`: it must call one. `tool`: id of the tool that it must call. A
 * service that cannot force a call lets the model decide.
 */
export const ToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.strictObject({ tool: z.string().min(1) }),
]);
export type ToolChoice = z.infer<typeof ToolChoice>;

export const Verbosity = z.enum(['low', 'medium', 'high']);

const MOST_STOPS = 16;
const LONGEST_STOP = 256;

const StopSequence = z.string().min(1).max(LONGEST_STOP);

/** Documented as a list; other services also accept one sequence as a string, so it is accepted here too. */
const Stop = z.preprocess(
  (given: string[]) => (typeof given === 'string' ? [given] : given),
  z.array(StopSequence).min(1).max(MOST_STOPS),
);

const Effort = z.union([
  ReasoningEffort,
  z
    .int()
    .nonnegative()
    .max(4_294_967_295)
    .transform((budget) => ({ budget })),
]);

const ProviderOptions = JsonObject.superRefine((options, context) => {
  const problem = providerOptionsProblem(options);
  if (problem !== undefined) context.addIssue(problem);
});

export const modelSettingFields = {
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .meta({ description: 'sampling temperature, 0 to 2; omitted where the model rejects it' }),
  top_p: z.number().min(0).max(1).optional().meta({ description: 'nucleus sampling, 0 to 1' }),
  max_tokens: z
    .int()
    .min(1)
    .max(4_294_967_295)
    .optional()
    .meta({ description: 'tokens of one completion; at most the `max_output_tokens` of the model' }),
  stop: Stop.optional().meta({
    description: `sequences that end a completion: 1 to ${MOST_STOPS}`,
  }),
  seed: z
    .int()
    .optional()
    .meta({ description: 'for reproducible completions, where the provider supports it' }),
  presence_penalty: z
    .number()
    .min(-2)
    .max(2)
    .optional()
    .meta({ description: 'penalty for words that occur, -2 to 2, where the provider has it' }),
  frequency_penalty: z
    .number()
    .min(-2)
    .max(2)
    .optional()
    .meta({ description: 'penalty for frequent words, -2 to 2, where the provider has it' }),
  tool_choice: ToolChoice.optional().meta({
    description:
      '`required` and `{ "tool": id }` apply until the model has called a tool; afterwards the model decides',
  }),
  parallel_tool_calls: z
    .boolean()
    .optional()
    .meta({ description: 'whether one completion may contain several calls' }),
  verbosity: Verbosity.optional().meta({
    description: 'verbosity of completions, where the model has such a setting',
  }),
  service_tier: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,31}$/, "must be a name such as 'auto', 'flex' or 'priority'")
    .optional()
    .meta({ description: 'processing tier, as the provider names it' }),
  reasoning_effort: Effort.optional().meta({ description: 'reasoning effort before the response' }),
  provider_options: ProviderOptions.optional().meta({
    description:
      'fields of the request body, by wire format, adapter or provider: `{ "anthropic": { "top_k": 5 } }`',
  }),
} as const;

/** The parsed settings. */
export type ModelSettings = {
  [Name in ModelSetting]?: Exclude<z.output<(typeof modelSettingFields)[Name]>, undefined>;
};

/** Returns the settings of an entry, without its other fields. */
export function pickModelSettings(
  entry: { readonly [Name in ModelSetting]?: ModelSettings[Name] | undefined },
) {
  return Object.fromEntries(
    MODEL_SETTINGS.flatMap((name) => (entry[name] === undefined ? [] : [[name, entry[name]]])),
    // Each name keeps the value that it has in the entry.
  ) as ModelSettings;
}
