import { z } from 'zod';

/** Usage of attempts whose answer is not kept as a whole: aborted, cancelled, or interrupted by a restart. */
export const CutOff = z
  .object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    estimated: z.literal(true),
  })
  .meta({
    id: 'CutOff',
    description:
      'Estimated tokens of attempts that were interrupted, cancelled or lost in a crash. Not included in the other counts; the provider may charge the sum.',
  });
export type CutOff = z.infer<typeof CutOff>;

export type Tokens = { input: number; output: number };

/** `usd`: the cost, if known. */
export type Spent = Tokens & { usd?: number | undefined };

/** Undefined without tokens. */
export const cutOffOf = ({ input, output }: Tokens): CutOff | undefined =>
  input + output === 0 ? undefined : { input_tokens: input, output_tokens: output, estimated: true };

export const NO_CUT_OFF: CutOff = { input_tokens: 0, output_tokens: 0, estimated: true };
