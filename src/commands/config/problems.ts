import { Invalid } from '../../schema/outcome.ts';

/** The command was given something that it cannot begin with. */
export class ConfigUsage extends Invalid {}

/** What is wrong with a configuration, one problem a line, each naming its entry. */
export class ConfigProblems extends Invalid {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}
