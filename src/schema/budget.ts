import { z } from 'zod';
import { nullsAbsent } from './endpoint.ts';
import { compileGlob } from './glob.ts';
import { listOf } from './list.ts';
import { requiredText } from './problems.ts';

/** Budgets: limits of what scopes, users, keys, agents, models and runs may spend. */

/** The properties of an inference that a budget can select and divide by. */
export const BUDGET_PROPERTIES = ['scope', 'user', 'key', 'agent', 'model', 'run'] as const;
export type BudgetProperty = (typeof BUDGET_PROPERTIES)[number];

/**
 * The properties of one inference. `user`: the user that the run acts for. `key`: the id of the API key, or
 * the kind of the credential. `run`: the root run.
 */
export type BudgetSubject = Readonly<Record<BudgetProperty, string>>;

const pattern = (field: string) =>
  z
    .string()
    .superRefine((text, context) => {
      try {
        compileGlob(text);
      } catch (error) {
        context.addIssue(`field 'match.${field}': ${error instanceof Error ? error.message : String(error)}`);
      }
    })
    .optional();

const MatchFields = z.strictObject({
  scope: pattern('scope'),
  user: pattern('user'),
  key: pattern('key'),
  agent: pattern('agent'),
  model: pattern('model'),
});

const isZone = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined;
  } catch {
    return false;
  }
};

const WindowFields = z.strictObject({
  every: z.enum(['minute', 'hour', 'day', 'week', 'month', 'total']).meta({
    description: 'when counting restarts; weeks begin on Monday',
  }),
  zone: z
    .string()
    .refine(isZone, "field 'window.zone' must be an IANA time zone, such as 'Europe/Berlin'")
    .optional()
    .meta({ description: 'IANA time zone of the calendar; default UTC' }),
});
export type BudgetWindow = z.infer<typeof WindowFields>;

/** The largest amount whose nano-USD are exact integers. */
const MOST_USD = 9_000_000;

const number = z.int().min(1).optional();

const LimitFields = z.strictObject({
  tokens: z.int().min(1).optional().meta({ description: 'input and output tokens' }),
  usd: z
    .number()
    .refine((usd) => usd > 0 && usd <= MOST_USD, `field 'limits.usd' must be above 0 and at most ${MOST_USD}`)
    .meta({ exclusiveMinimum: 0, maximum: MOST_USD })
    .optional(),
  requests: number.meta({ description: 'requests to the service' }),
  runs: number.meta({
    description: 'runs that begin, those of sub-agents included; per run: the runs of one root run',
  }),
  concurrent_runs: number.meta({
    description: 'runs that execute at once; further ones stay queued, in their order',
  }),
  queued_runs: number.meta({ description: 'runs that are queued at once' }),
  open_streams: number.meta({ description: 'event streams that are open at once' }),
});

const share = z
  .number()
  .refine((part) => part > 0 && part < 1, "field 'warn_at' must contain shares between 0 and 1")
  .meta({ exclusiveMinimum: 0, exclusiveMaximum: 1 });

/** Limits that count from the start of a window. */
const LIMITS_OVER_TIME = ['tokens', 'usd', 'requests', 'runs'] as const;

/** Properties that only runs have. */
const RUN_PROPERTIES: readonly BudgetProperty[] = ['agent', 'model', 'run'];

/** Returns the problems of limits whose counters cannot be divided or selected in this way. */
const misplacedLimits = (
  match: z.infer<typeof MatchFields>,
  per: readonly BudgetProperty[],
  limits: z.infer<typeof LimitFields>,
): string[] => {
  const ofRuns = match.agent ?? match.model ?? per.find((property) => RUN_PROPERTIES.includes(property));
  const unknown =
    ofRuns === undefined
      ? []
      : (['requests', 'open_streams'] as const)
          .filter((name) => limits[name] !== undefined)
          .map((name) => `field 'limits.${name}' knows no agent, model or run`);
  const perRun = (['concurrent_runs', 'queued_runs'] as const)
    .filter((name) => limits[name] !== undefined && per.includes('run'))
    .map((name) => `field 'limits.${name}' is not allowed with 'run' in 'per'`);
  return [...unknown, ...perRun];
};

const Fields = z
  .strictObject({
    id: requiredText('id'),
    match: nullsAbsent(MatchFields).prefault({}).meta({
      description:
        'patterns of what counts, in which `*` stands for any text; an absent one matches everything',
    }),
    per: listOf(z.enum(BUDGET_PROPERTIES)).default([]).meta({
      description: 'each combination of these has its own counter; none: one counter for all',
      uniqueItems: true,
    }),
    window: nullsAbsent(WindowFields).optional(),
    limits: nullsAbsent(LimitFields),
    warn_at: listOf(share).default([]).meta({ description: 'shares of the limits, ascending' }),
    on_exceeded: z.enum(['pause', 'stop', 'observe']).default('pause').meta({
      description:
        'pause: runs wait for a decision, a new window or a raised limit; stop: runs end and new ones are refused; observe: only events, metrics and the log',
    }),
    unpriced: z.enum(['refuse', 'ignore']).default('refuse').meta({
      description: 'with a limit in USD: whether a model without prices is refused or not counted in USD',
    }),
  })
  .superRefine(({ match, per, window, limits, warn_at }, context) => {
    if (Object.keys(limits).length === 0) context.addIssue("field 'limits' must have at least one limit");
    if (new Set(per).size < per.length) context.addIssue("field 'per' must not repeat a property");
    if (per.includes('run') && window) context.addIssue("field 'window' is not allowed with 'run' in 'per'");
    if (!per.includes('run') && !window && LIMITS_OVER_TIME.some((name) => limits[name] !== undefined))
      context.addIssue("missing field 'window'");
    for (const problem of misplacedLimits(match, per, limits)) context.addIssue(problem);
    if (warn_at.some((part, index) => part <= (warn_at[index - 1] ?? 0)))
      context.addIssue("field 'warn_at' must be in ascending order");
  });

export const BudgetSpec = nullsAbsent(Fields).meta({
  id: 'BudgetSpec',
  description: 'A limit of the tokens and the money that runs may spend.',
});
export type BudgetSpec = z.infer<typeof BudgetSpec>;

/** The limits of what inferences spend. */
export const BUDGET_UNITS = ['tokens', 'usd'] as const;
export type BudgetUnit = (typeof BUDGET_UNITS)[number];

/** The reason of a ticket that waits for an exhausted budget (identity.md 5.4). */
export const BUDGET_EXCEEDED = 'budget:exceeded';

export const ReachedLimit = z
  .object({
    budget: z.string().meta({ description: 'id of the budget' }),
    unit: z.enum(BUDGET_UNITS),
    spent: z.number(),
    limit: z.number().meta({ description: 'the limit, with what decisions have added to it' }),
    resets_at: z
      .int()
      .optional()
      .meta({ description: 'end of the window in milliseconds; absent without an end' }),
  })
  .meta({ id: 'ReachedLimit', description: 'A limit of a budget that leaves no room for an inference.' });
/** The state of a limit, in tokens or USD. These are the arguments of a ticket that waits for a budget. */
export type ReachedLimit = z.infer<typeof ReachedLimit>;

/** The payload of a decision on a ticket that waits for a budget. */
export const BudgetRaise = z
  .strictObject({
    extra: z.strictObject({
      tokens: z.int().min(1).optional(),
      usd: z.number().gt(0).max(MOST_USD).optional(),
    }),
    run_only: z
      .boolean()
      .default(false)
      .meta({ description: 'whether only the run that waits, with all runs below it, may spend the amount' }),
  })
  .meta({
    id: 'BudgetRaise',
    description: 'An amount that is added to the limit of a budget for the rest of its window.',
  });
export type BudgetRaise = z.infer<typeof BudgetRaise>;

const BudgetAmount = z.object({ tokens: z.int(), usd: z.number() });

export const BudgetUsage = z
  .object({
    items: z.array(
      z.object({
        key: z.record(z.string(), z.string()).meta({ description: 'the values of the properties in `per`' }),
        spent: BudgetAmount.extend({
          runs: z.int().optional().meta({ description: 'with a limit of runs' }),
        }),
        reserved: BudgetAmount.meta({ description: 'for inferences that have not ended' }),
        limit: LimitFields,
        extra: BudgetAmount.meta({
          description:
            'what decisions have added to the limit for the rest of the window; an amount for one run is part of it once it is spent',
        }),
        resets_at: z.int().optional().meta({ description: 'end of the window in milliseconds' }),
      }),
    ),
  })
  .meta({ id: 'BudgetUsage', description: 'Counters of a budget in its current window.' });
export type BudgetUsage = z.infer<typeof BudgetUsage>;
