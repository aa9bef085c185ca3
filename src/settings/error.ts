import { Invalid } from '../schema/outcome.ts';

/** The start is refused. One problem a line, each naming the setting; values of secrets are never part of it. */
export class SettingsError extends Invalid {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
