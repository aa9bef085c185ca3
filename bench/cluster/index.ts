import { NO_POSTGRES } from '../../test/cluster/programs.ts';
import type { Benchmark } from '../benchmark.ts';
import { measureBurst } from './burst.ts';
import { measureAllCommits } from './commits.ts';
import { measureCopy } from './copy.ts';
import { withPostgres } from './database.ts';
import { measureFirstToken } from './first-token.ts';
import { measureIdle } from './idle.ts';

export const cluster: Benchmark = {
  name: 'cluster',
  title: 'cluster: costs of a member alone and of its commits; p50 and p99 are ms',
  async run(context) {
    if (NO_POSTGRES !== false) {
      context.note(NO_POSTGRES);
      return [];
    }
    return withPostgres(async (postgres) => [
      ...(await measureAllCommits(context, postgres)),
      ...(await measureBurst(context, postgres)),
      await measureFirstToken(context, postgres),
      await measureCopy(context, postgres),
      ...(await measureIdle(context, postgres)),
    ]);
  },
};
