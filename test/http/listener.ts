import { z } from 'zod';

/** The HTTP server of test services: `TROUPE_TEST_HTTP_SERVER`, with the default of the setting. */
export const HTTP_SERVER = z
  .enum(['auto', 'uws', 'node'])
  .default('auto')
  .parse(process.env.TROUPE_TEST_HTTP_SERVER);

/** The same for the environment of a child process; empty by default. */
export const HTTP_SERVER_ENV: Readonly<Record<string, string>> =
  HTTP_SERVER === 'auto' ? {} : { SERVICE_HTTP_SERVER: HTTP_SERVER };
