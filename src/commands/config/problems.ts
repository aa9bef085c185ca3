import { Invalid } from '../../schema/outcome.ts';

/** Problems of a configuration, one per line, each naming its entry. */
export class ConfigProblems extends Invalid {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}
