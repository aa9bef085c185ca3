import { number, object } from './guard.ts';

/** Estimated tokens of attempts that were interrupted. */
export const CutOff = object({ input_tokens: number, output_tokens: number });
export type CutOff = ReturnType<typeof CutOff>;
