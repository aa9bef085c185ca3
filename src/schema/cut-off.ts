import { z } from 'zod';

/** What attempts have used whose answer is not kept as a whole: it broke off, or was cut off by a cancel or a restart. */
export const CutOff = z
  .object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    estimated: z.literal(true),
  })
  .meta({
    id: 'CutOff',
    description:
      'Estimated tokens of attempts that broke off, were cancelled or were lost with a process. Not included in the other counts; both together are what the provider may charge.',
  });
export type CutOff = z.infer<typeof CutOff>;

export type Tokens = { input: number; output: number };

/** `usd`: what they cost, where that is known. */
export type Spent = Tokens & { usd?: number | undefined };

/** Undefined where there is nothing to report. */
export const cutOffOf = ({ input, output }: Tokens): CutOff | undefined =>
  input + output === 0 ? undefined : { input_tokens: input, output_tokens: output, estimated: true };

export const NO_CUT_OFF: CutOff = { input_tokens: 0, output_tokens: 0, estimated: true };
