import { z } from 'zod';

/** Usage: what the runs of a scope have used, by day, user, agent and model (identity.md 5.5). */

/** The properties that usage can be divided by. */
export const USAGE_PROPERTIES = ['user', 'agent', 'model', 'day'] as const;
export type UsageProperty = (typeof USAGE_PROPERTIES)[number];

const sum = z.int().min(0);

const sums = {
  runs: sum.meta({ description: 'runs that have started' }),
  inferences: sum.meta({ description: 'completed inferences' }),
  input_tokens: sum.meta({ description: 'including interrupted inferences' }),
  output_tokens: sum.meta({ description: 'including interrupted inferences' }),
  usd: z.number().meta({ description: 'cost, without inferences that have no price' }),
};

export const UsageItem = z
  .object({
    user: z.string().optional().meta({
      description:
        'the user that the runs acted for; `~anonymous` without a user, `~admin` for the admin token',
    }),
    agent: z.string().optional().meta({ description: 'the agent that made the inferences' }),
    model: z
      .string()
      .optional()
      .meta({ description: 'the model, or the pool, of the agent; empty if it is not known' }),
    day: z.iso.date().optional().meta({ description: 'UTC' }),
    ...sums,
  })
  .meta({ id: 'UsageItem', description: 'Usage of runs, with the properties that it is divided by.' });
/**
 * Usage of runs (identity.md 5.5), with the properties that it is divided by.
 *
 * @example
 * ```ts
 * const line = ({ user, usd }: UsageItem): string => `${user}: ${usd.toFixed(2)} USD`;
 * for await (const item of client.usage.list({ by: ['user'] })) console.log(line(item));
 * ```
 */
export type UsageItem = z.infer<typeof UsageItem>;

export const UsageList = z
  .object({ items: z.array(UsageItem), next_cursor: z.string().nullable() })
  .meta({ id: 'UsageList', description: 'One page of usage, ordered by the properties in `by`.' });
export type UsageList = z.infer<typeof UsageList>;

/** Counts of one run. `usd`: undefined without a price. */
export type UsageNote = {
  agent: string;
  model: string;
  runs?: number;
  inferences?: number;
  input?: number;
  output?: number;
  usd?: number | undefined;
};
