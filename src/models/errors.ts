import { maskForeign } from '../schema/redaction/foreign.ts';
import { BOUNDS, excerpt } from './bounds.ts';
import type { InferenceUsage } from './model.ts';

/**
 * Failures of an inference (agent-loop.md 10.1). The message becomes `termination.value`; `transient` states whether a
 * retry may help (runtime.md 10.4 rule 4).
 */

type Kind = { transient: boolean; text: (detail: string) => string };

const prefixed = (prefix: string) => (detail: string) => `${prefix}: ${detail}`;

/** The text of a message, and whether a retry may help. */
export const MODEL_ERRORS = {
  rate_limited: { transient: true, text: prefixed('rate limited') },
  overloaded: { transient: true, text: prefixed('provider overloaded') },
  timeout: { transient: true, text: prefixed('timeout') },
  provider: { transient: true, text: prefixed('provider error') },
  stream_interrupted: { transient: true, text: (cause) => `stream interrupted (${cause})` },
  context_overflow: { transient: false, text: prefixed('context overflow') },
  invalid_request: { transient: false, text: prefixed('invalid request') },
  unauthorized: { transient: false, text: prefixed('unauthorized') },
  model_not_found: { transient: false, text: prefixed('model not found') },
  content_filtered: { transient: false, text: prefixed('content filtered') },
  unavailable: { transient: true, text: (detail) => detail || 'all models unavailable' },
  attempts_exhausted: { transient: false, text: () => 'pool attempts exhausted' },
  cancelled: { transient: false, text: () => 'cancelled' },
} satisfies Record<string, Kind>;

export type ModelErrorClass = keyof typeof MODEL_ERRORS;

/** Whether failures of this kind are transient. */
export const passes = (kind: ModelErrorClass): boolean => MODEL_ERRORS[kind].transient;

/** The member that was called, if the caller addressed a pool. */
type ModelIdentity = { id: string; provider: string; upstream: string };

type ModelErrorOptions = {
  status?: number;
  retryAfterSeconds?: number;
  /** Marks a failure as permanent although most failures of its kind are transient. */
  final?: boolean;
  /** No provider was called. */
  heldBack?: boolean;
  by?: ModelIdentity;
  /** Tokens that the provider reported although there is no completion. */
  usage?: InferenceUsage | undefined;
  cause?: unknown;
};

/** A program may load several copies of this package, each with its own class. */
const MODEL_ERROR = Symbol.for('troupe.ModelError');

/**
 * A failure of an inference (agent-loop.md 10.1). A provider throws it so that the loop can decide whether to retry,
 * to call another model of a pool, or to end the run: `transient` failures are retried. The message becomes
 * `termination.value` of the run.
 *
 * @example
 * ```ts
 * const limited = defineProvider({
 *   id: 'limited',
 *   stream: async () => {
 *     throw new ModelError('rate_limited', 'quota used up', { status: 429, retryAfterSeconds: 30 });
 *   },
 * });
 * ```
 */
export class ModelError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && MODEL_ERROR in value;
  }

  get [MODEL_ERROR](): true {
    return true;
  }

  readonly class: ModelErrorClass;
  /** Whether a retry may succeed. */
  readonly transient: boolean;
  /** The message without its class; for a broken stream, the cause. */
  readonly detail: string;
  /** HTTP status of the provider's response, if there was one. */
  readonly status?: number;
  /** Delay that the provider requests before a retry. */
  readonly retryAfterSeconds?: number;
  /** No provider was called: the circuit is open, and the same call may be repeated after `retryAfterSeconds`. */
  readonly heldBack: boolean;
  /** The member of a pool that failed. */
  readonly by?: ModelIdentity;
  /** Tokens that the provider reported before the failure. */
  readonly usage?: InferenceUsage;

  /**
   * `detail` follows the text of the class and is truncated to a fixed length; for a broken stream it is the cause. It
   * is masked here, because most details are text from a provider that received a key.
   */
  constructor(
    kind: ModelErrorClass,
    detail: string,
    { status, retryAfterSeconds, final = false, heldBack = false, by, usage, cause }: ModelErrorOptions = {},
  ) {
    const text = excerpt(maskForeign(detail));
    super(MODEL_ERRORS[kind].text(text), { cause });
    this.name = 'ModelError';
    this.class = kind;
    this.detail = text;
    this.transient = passes(kind) && !final;
    this.heldBack = heldBack;
    if (status !== undefined) this.status = status;
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
    if (by) this.by = by;
    if (usage) this.usage = usage;
  }

  /** The same failure with the model that caused it. */
  from(by: ModelIdentity): ModelError {
    return this.again(this.detail, { by, final: passes(this.class) && !this.transient });
  }

  /** The same failure with the tokens that the provider reported before it. */
  using(usage: InferenceUsage | undefined): ModelError {
    if (!usage || this.usage) return this;
    return this.again(this.detail, {
      final: passes(this.class) && !this.transient,
      ...(this.by && { by: this.by }),
      usage,
    });
  }

  /** The same failure as a permanent one, with the reason in its message. */
  ended(reason: string): ModelError {
    const text = excerpt(this.detail, BOUNDS.messageLength / 2);
    return this.again(`${text} (${reason})`, { final: true, ...(this.by && { by: this.by }) });
  }

  private again(detail: string, more: Pick<ModelErrorOptions, 'by' | 'final' | 'usage'>): ModelError {
    const { status, retryAfterSeconds, heldBack, usage } = this;
    return new ModelError(this.class, detail, {
      heldBack,
      usage,
      ...(status !== undefined && { status }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...more,
      cause: this.cause,
    });
  }
}

/** The pool member that failed. */
export const byIn = (error: unknown): ModelIdentity | undefined =>
  error instanceof ModelError ? error.by : undefined;

/** Tokens that a provider reported for a failed completion. */
export const usageIn = (error: unknown): InferenceUsage | undefined =>
  error instanceof ModelError ? error.usage : undefined;
