import { maskForeign } from '../schema/redaction/foreign.ts';
import { BOUNDS, excerpt } from './bounds.ts';
import type { InferenceUsage } from './model.ts';

/**
 * How an inference fails (agent-loop.md 10.1). The message is what ends up in `termination.value`; `transient`
 * says whether trying again may help (runtime.md 10.4 rule 4).
 */

type Kind = { transient: boolean; text: (detail: string) => string };

const prefixed = (prefix: string) => (detail: string) => `${prefix}: ${detail}`;

const KINDS = {
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

export type ModelErrorClass = keyof typeof KINDS;

/** Whether failures of this kind may pass by themselves. */
export const passes = (kind: ModelErrorClass): boolean => KINDS[kind].transient;

/** The model that was asked, where the caller knows it only as a pool. */
type Asked = { id: string; provider: string; upstream: string };

type ModelErrorOptions = {
  status?: number;
  retryAfterSeconds?: number;
  /** Trying again does not help, although it does with most failures of the kind. */
  final?: boolean;
  /** No provider was called. */
  heldBack?: boolean;
  by?: Asked;
  /** Tokens that the provider reported although there is no answer. */
  usage?: InferenceUsage | undefined;
  cause?: unknown;
};

/** Programs may have more than one copy of this package, and each copy a class of its own. */
const MODEL_ERROR = Symbol.for('troupe.ModelError');

export class ModelError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && MODEL_ERROR in value;
  }

  get [MODEL_ERROR](): true {
    return true;
  }

  readonly class: ModelErrorClass;
  readonly transient: boolean;
  /** What the message says besides its class; for a broken stream, why it broke. */
  readonly detail: string;
  /** HTTP status of the provider, where there was one. */
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  /** No provider was called: the circuit is open, and the same call may be made after `retryAfterSeconds`. */
  readonly heldBack: boolean;
  readonly by?: Asked;
  readonly usage?: InferenceUsage;

  /**
   * `detail` is what follows the text of the class, a bounded part of it; for a broken stream it is the cause. It is
   * masked here, because most details are words of a provider, which was sent a key.
   */
  constructor(
    kind: ModelErrorClass,
    detail: string,
    { status, retryAfterSeconds, final = false, heldBack = false, by, usage, cause }: ModelErrorOptions = {},
  ) {
    const said = excerpt(maskForeign(detail));
    super(KINDS[kind].text(said), { cause });
    this.name = 'ModelError';
    this.class = kind;
    this.detail = said;
    this.transient = passes(kind) && !final;
    this.heldBack = heldBack;
    if (status !== undefined) this.status = status;
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
    if (by) this.by = by;
    if (usage) this.usage = usage;
  }

  /** The same failure, with the model that it came from. */
  from(by: Asked): ModelError {
    return this.again(this.detail, { by, final: passes(this.class) && !this.transient });
  }

  /** The same failure, with the tokens that the provider reported before it. */
  using(usage: InferenceUsage | undefined): ModelError {
    if (!usage || this.usage) return this;
    return this.again(this.detail, {
      final: passes(this.class) && !this.transient,
      ...(this.by && { by: this.by }),
      usage,
    });
  }

  /** The same failure, and nobody tries again: `reason` says why. */
  ended(reason: string): ModelError {
    const said = excerpt(this.detail, BOUNDS.wordsLength / 2);
    return this.again(`${said} (${reason})`, { final: true, ...(this.by && { by: this.by }) });
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

/** The member of a pool that failed. */
export const byIn = (error: unknown): Asked | undefined =>
  error instanceof ModelError ? error.by : undefined;

/** Tokens that a provider reported for an answer that is none. */
export const usageIn = (error: unknown): InferenceUsage | undefined =>
  error instanceof ModelError ? error.usage : undefined;
