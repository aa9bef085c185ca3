import { Invalid, Outcome } from '../schema/outcome.ts';

/** The command was given something that it cannot begin with. */
export class Usage extends Invalid {}

/** What a command refuses is said without a stack trace; the exit code tells whose turn it is: 1, or 2 for wrong usage. */
export const guarded =
  <Arguments extends unknown[]>(
    action: (...given: Arguments) => Promise<void>,
    { refused = 1 }: { refused?: number } = {},
  ) =>
  async (...given: Arguments): Promise<void> => {
    try {
      await action(...given);
    } catch (error) {
      if (!(error instanceof Outcome)) throw error;
      process.stderr.write(`${error.message}\n`);
      process.exitCode = error instanceof Usage ? 2 : refused;
    }
  };
