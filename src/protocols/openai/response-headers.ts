import type { Run } from '../../schema/run.ts';

/** Headers of responses of the protocol (openai.md 2.2). */

/** The family writes it to every response. */
export const PROCESSING_HEADER = 'openai-processing-ms';

/** For responses to requests that made or continued a run. */
export const runHeaders = ({ run_id, thread_id }: Pick<Run, 'run_id' | 'thread_id'>) => ({
  'x-troupe-run-id': run_id,
  'x-troupe-thread-id': thread_id,
});

/** For event streams: proxies must not collect frames. */
export const STREAM_HEADERS = { 'x-accel-buffering': 'no' } as const;
