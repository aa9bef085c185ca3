/**
 * Limits of the models behind the Messages protocol, by name. A name may have the prefix and suffix of the service that
 * offers the model. A model without a row has the limits that every service accepts.
 */
export type ModelLimits = {
  /** Highest `max_tokens`, which is also the default. */
  maxTokens: number;
  /** Whether `maxTokens` is documented; for other models it is only the default. */
  isKnown: boolean;
  /** Whether the model rejects `temperature` and `top_p`. */
  fixedSampling?: boolean;
  /** Whether the model thinks in each completion, and rejects `thinking: disabled`. */
  alwaysThinks?: boolean;
  /** Whether the model accepts `between_tools`, the lowest thinking setting of a model that always thinks. */
  betweenTools?: boolean;
  /** Whether the model rejects `tool_choice` of the types `any` and `tool`. */
  refusesForcedTools?: boolean;
};

const NEWEST = { maxTokens: 128_000, isKnown: true, fixedSampling: true } as const;
const ALWAYS_THINKS = { ...NEWEST, alwaysThinks: true } as const;

/** The first matching row applies. */
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

/** Models that choose their thinking budget themselves, and reject a prefilled completion. */
const ADAPTIVE = /claude-(opus|sonnet|haiku|fable)-(4-[6-9]|[5-9])/;

export const isAdaptive = (upstream: string): boolean => ADAPTIVE.test(upstream);

/** Claude up to version 4. Later versions, and most models of other companies, think unless a request disables it. */
const THINKS_WHEN_ASKED = /claude-(instant|v?2(?=$|[-.:])|([a-z]+-)?[34](?=$|[-.@:]))/;

export const thinksByDefault = (upstream: string): boolean => !THINKS_WHEN_ASKED.test(upstream);

/** Version 5.1 and later; eight digits after a version are a date. */
const BINDS_THINKING = /claude-[a-z]+-(5-[1-9]\d?(?!\d)|[6-9](?=$|[-@:])|[1-9]\d(?!\d))/;

/**
 * Whether a thinking block is valid only after exactly the system texts, tools and messages that preceded its creation.
 */
export const bindsThinking = (upstream: string): boolean => BINDS_THINKING.test(upstream);

/** Claude before 3.7. */
const NEVER_THINKS = /claude-(instant|v?2(?=$|[-.:])|3-(haiku|opus|sonnet|5-))/;

export const thinksAtAll = (upstream: string): boolean => !NEVER_THINKS.test(upstream);
