import { z } from 'zod';

/** Models and providers (agent-loop.md 2.1, 2.3). */

export const Modality = z.enum(['text', 'image', 'audio', 'video', 'pdf']);

export const ModelSpec = z
  .strictObject({
    id: z.string().min(1),
    provider_id: z.string().min(1),
    upstream_model: z.string().min(1),
    context_window: z.int().positive().optional(),
    max_output_tokens: z.int().positive().optional(),
    modalities: z
      .strictObject({ input: z.array(Modality).optional(), output: z.array(Modality).optional() })
      .optional(),
    knowledge_cutoff: z.string().optional(),
    input_token_price_per_million_usd: z.number().nonnegative().optional(),
    output_token_price_per_million_usd: z.number().nonnegative().optional(),
  })
  .meta({ id: 'ModelSpec' });
export type ModelSpec = z.infer<typeof ModelSpec>;

export const ProviderSpec = z
  .strictObject({
    id: z.string().min(1),
    adapter: z.string().min(1),
    api_key: z.string().nullable().optional(),
    base_url: z.string().nullable().optional(),
    timeout_secs: z.int().nonnegative().optional(),
    adapter_options: z.record(z.string(), z.json()).optional(),
  })
  .meta({ id: 'ProviderSpec' });
export type ProviderSpec = z.infer<typeof ProviderSpec>;
