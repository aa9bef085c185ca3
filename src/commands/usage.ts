import { Invalid, Outcome } from '../schema/outcome.ts';

/** The command cannot start with the given arguments. */
export class Usage extends Invalid {}

/** Prints expected errors without a stack trace. The exit code is 2 for wrong usage and otherwise `refused`. */
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
