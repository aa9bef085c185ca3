import type { InferenceRequest } from './model.ts';

/**
 * How long a stream may be silent before it counts as broken (agent-loop.md 9.4); the window doubles for reasoning
 * models. 0 disables the limit.
 */
export const idleLimitSeconds = (request: InferenceRequest, upstream: string): number | undefined => {
  const { stream_idle_timeout_secs: window, overrides } = request;
  if (!window) return undefined;
  const thinks = overrides.reasoning_effort != null || THINKING.test(upstream);
  return thinks ? window * 2 : window;
};

const THINKING = /thinking|reasoning|^o[134]/i;
