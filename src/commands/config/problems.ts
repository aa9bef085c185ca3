import { Invalid } from '../../schema/outcome.ts';

/** What is wrong with a configuration, one problem a line, each naming its entry. */
export class ConfigProblems extends Invalid {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}
