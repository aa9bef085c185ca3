import type { Postgres } from '../../test/cluster/postgres.ts';
import { startPostgres } from '../../test/cluster/postgres.ts';

/** A server as an operator would have it: commits are flushed. */
const SETTINGS = { fsync: 'on', shared_buffers: '128MB' };

/** Starts a PostgreSQL server on the core of this process, and ends it when the measurement has ended. */
export const withPostgres = async <Result>(
  measure: (postgres: Postgres) => Promise<Result>,
): Promise<Result> => {
  const ends: (() => Promise<void>)[] = [];
  try {
    return await measure(
      await startPostgres({ teardown: (end) => void ends.push(end) }, { settings: SETTINGS }),
    );
  } finally {
    for (const end of ends) await end();
  }
};

/** CPU time of the server with all its processes while something is done, in µs. */
export const cpuOf = async (postgres: Postgres, act: () => Promise<unknown>): Promise<number> => {
  const before = postgres.cpuMs();
  await act();
  return (postgres.cpuMs() - before) * 1000;
};
