import type { InferenceSink } from './model.ts';

const ignore = (): void => {};

/** No-op sink; override individual callbacks as needed. */
export const NOOP_SINK: InferenceSink = {
  text: ignore,
  reasoning: ignore,
  reasoningEncrypted: ignore,
  toolStart: ignore,
  toolDelta: ignore,
  toolEnd: ignore,
};
