import { Invalid } from '../schema/outcome.ts';

/** The start is rejected. The message has one problem per line, each with its setting; it never contains secrets. */
export class SettingsError extends Invalid {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
