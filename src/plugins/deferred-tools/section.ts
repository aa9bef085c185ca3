import { z } from 'zod';
import { compileGlob } from '../../schema/glob.ts';
import { Invalid } from '../../schema/outcome.ts';
import type { Section } from '../plugin.ts';

const Mode = z.enum(['eager', 'deferred']);
export type Mode = z.infer<typeof Mode>;

const ToolGlob = z.string().superRefine((glob, context) => {
  try {
    compileGlob(glob);
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    context.addIssue(error.message);
  }
});

const probability = z.number().min(0).max(1);

/** The discounted Beta model of `usage.ts`. */
const DiscBeta = z.strictObject({
  omega: z
    .number()
    .gt(0)
    .max(1)
    .default(0.95)
    .meta({ description: 'weight that a turn keeps per turn after it' }),
  n0: z.number().positive().default(5).meta({ description: 'turns that the prior is worth' }),
  defer_after: z
    .int()
    .nonnegative()
    .default(5)
    .meta({ description: 'idle turns before a tool may be deferred' }),
  thresh_mult: z.number().nonnegative().default(0.5).meta({ description: 'share of the break-even rate' }),
  gamma: z.number().positive().default(2000).meta({ description: 'tokens that one search costs' }),
});
export type DiscBeta = z.infer<typeof DiscBeta>;

const DeferredTools = z.strictObject({
  enabled: z
    .boolean()
    .nullable()
    .default(null)
    .meta({ description: 'null: when it saves more tokens than beta_overhead' }),
  rules: z
    .array(
      z.strictObject({
        tool: ToolGlob.meta({ description: 'a glob on tool ids' }),
        mode: Mode.meta({ description: 'whether these tools are sent with every request' }),
      }),
    )
    .default([])
    .meta({ description: 'the first rule that matches a tool decides' }),
  default_mode: Mode.default('deferred').meta({ description: 'for tools that no rule matches' }),
  beta_overhead: z
    .number()
    .nonnegative()
    .default(1136)
    .meta({ title: 'Beta overhead tokens', description: 'tokens that deferring itself costs' }),
  agent_priors: z
    .record(z.string(), probability)
    .default({})
    .meta({ description: 'tool id to the expected share of turns that use it' }),
  disc_beta: DiscBeta.prefault({}).meta({ description: 'the model of the use of tools' }),
});
export type DeferredTools = z.infer<typeof DeferredTools>;

export const deferredToolsSection: Section<DeferredTools> = {
  key: 'deferred_tools',
  schema: DeferredTools,
  display_name: 'Deferred Tools',
  description: 'Keeps rarely used tools out of requests until the model searches for them.',
  category: 'tools',
  editor: 'deferred-tools',
  default_value: {
    enabled: null,
    rules: [],
    default_mode: 'deferred',
    beta_overhead: 1136,
    disc_beta: { omega: 0.95, n0: 5, defer_after: 5, thresh_mult: 0.5, gamma: 2000 },
  },
};
