import type { InferenceSink } from './model.ts';

const ignore = (): void => {};

/** Hears nothing; what somebody wants to hear is put over it. */
export const DEAF: InferenceSink = {
  text: ignore,
  reasoning: ignore,
  reasoningEncrypted: ignore,
  toolStart: ignore,
  toolDelta: ignore,
  toolEnd: ignore,
};
