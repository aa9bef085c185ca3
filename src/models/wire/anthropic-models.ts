/**
 * Limits of the models behind the Messages protocol, by their names. A name may have a prefix and a suffix of the
 * service that offers the model. A model that is in no row has the limits that every service accepts.
 */
export type ModelLimits = {
  /** Highest `max_tokens`, which is also sent where a request sets none. */
  maxTokens: number;
  /** `maxTokens` is documented; for other models it is only the default. */
  isKnown: boolean;
  /** Refuses `temperature` and `top_p`. */
  fixedSampling?: boolean;
  /** Thinks in each answer, and refuses `thinking: disabled`. */
  alwaysThinks?: boolean;
  /** Accepts `between_tools`, the lowest setting of thinking of a model that always thinks. */
  betweenTools?: boolean;
  /** Refuses `tool_choice` of the types `any` and `tool`. */
  refusesForcedTools?: boolean;
};

const NEWEST = { maxTokens: 128_000, isKnown: true, fixedSampling: true } as const;
const ALWAYS_THINKS = { ...NEWEST, alwaysThinks: true } as const;

/** The first row that applies. */
const ROWS: readonly (readonly [name: RegExp, limits: ModelLimits])[] = [
  [/claude-sonnet-5-5/, { ...ALWAYS_THINKS, betweenTools: true, refusesForcedTools: true }],
  [/claude-(opus-5-5|fable-5-1)/, { ...ALWAYS_THINKS, refusesForcedTools: true }],
  [/claude-fable-5/, ALWAYS_THINKS],
  [/claude-(haiku-5-5|opus-5|sonnet-5|opus-4-[78])/, NEWEST],
  [/claude-(sonnet|opus)-4-6/, { maxTokens: 128_000, isKnown: true }],
  [/claude-(sonnet|opus|haiku)-4-5/, { maxTokens: 64_000, isKnown: true }],
  [/claude-sonnet-4-/, { maxTokens: 64_000, isKnown: true }],
  [/claude-opus-4-/, { maxTokens: 32_000, isKnown: true }],
  [/claude-3-haiku/, { maxTokens: 4096, isKnown: true }],
  [/claude-(instant(-|$)|v?2(?=$|[-.:])|3(?=$|[-.]))/, { maxTokens: 4096, isKnown: false }],
  [/claude-/, { maxTokens: 128_000, isKnown: false, fixedSampling: true }],
];

const OTHERS: ModelLimits = { maxTokens: 4096, isKnown: false };

export const limitsOf = (upstream: string): ModelLimits =>
  ROWS.find(([name]) => name.test(upstream))?.[1] ?? OTHERS;

export const isClaude = (upstream: string): boolean => upstream.includes('claude-');

/** These models decide their budget of thinking themselves, and refuse an answer that the request has begun. */
const ADAPTIVE = /claude-(opus|sonnet|haiku|fable)-(4-[6-9]|[5-9])/;

export const isAdaptive = (upstream: string): boolean => ADAPTIVE.test(upstream);

/** Claude up to version 4. Later ones, and most models of other companies, think unless a request turns it off. */
const THINKS_WHEN_ASKED = /claude-(instant|v?2(?=$|[-.:])|([a-z]+-)?[34](?=$|[-.@:]))/;

export const thinksUnasked = (upstream: string): boolean => !THINKS_WHEN_ASKED.test(upstream);

/** Version 5.1 and later; eight digits behind a version are a date. */
const BINDS_THINKING = /claude-[a-z]+-(5-[1-9]\d?(?!\d)|[6-9](?=$|[-@:])|[1-9]\d(?!\d))/;

/** A thinking block is valid only behind exactly the system texts, tools and messages that it was made behind. */
export const bindsThinking = (upstream: string): boolean => BINDS_THINKING.test(upstream);

/** Claude before 3.7. */
const NEVER_THINKS = /claude-(instant|v?2(?=$|[-.:])|3-(haiku|opus|sonnet|5-))/;

export const thinksAtAll = (upstream: string): boolean => !NEVER_THINKS.test(upstream);
