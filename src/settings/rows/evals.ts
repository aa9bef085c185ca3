import { integer } from '../kinds.ts';
import { setting } from '../setting.ts';

export const evalSettings = [
  setting({
    key: 'eval_limits.max_cells_per_sync_run',
    env: 'SERVICE_EVAL_LIMITS_MAX_CELLS_PER_SYNC_RUN',
    type: integer(),
    default: 100,
    doc: 'maximum cells of a dataset run: fixtures × models × samples',
  }),
  setting({
    key: 'eval_limits.max_cells_per_async_run',
    env: 'SERVICE_EVAL_LIMITS_MAX_CELLS_PER_ASYNC_RUN',
    type: integer(),
    default: 10_000,
    doc: 'maximum cells of an asynchronous dataset run',
  }),
  setting({
    key: 'eval_limits.max_concurrent_matrix_cells',
    env: 'SERVICE_EVAL_LIMITS_MAX_CONCURRENT_MATRIX_CELLS',
    type: integer({ min: 1 }),
    default: 5,
    doc: 'cells of a dataset run that execute concurrently',
  }),
  setting({
    key: 'eval_limits.max_cells_per_sync_online',
    env: 'SERVICE_EVAL_LIMITS_MAX_CELLS_PER_SYNC_ONLINE',
    type: integer(),
    default: 10,
    doc: 'maximum cells of an online eval: models × samples',
  }),
  setting({
    key: 'eval_limits.max_concurrent_online_cells',
    env: 'SERVICE_EVAL_LIMITS_MAX_CONCURRENT_ONLINE_CELLS',
    type: integer({ min: 1 }),
    default: 5,
    doc: 'cells of an online eval that execute concurrently',
  }),
  setting({
    key: 'eval_limits.max_samples_per_cell',
    env: 'SERVICE_EVAL_LIMITS_MAX_SAMPLES_PER_CELL',
    type: integer(),
    default: 20,
    doc: 'maximum samples per cell',
  }),
  setting({
    key: 'eval_limits.max_judge_revisions',
    env: 'SERVICE_EVAL_LIMITS_MAX_JUDGE_REVISIONS',
    type: integer(),
    default: 3,
    doc: 'maximum revisions of a response for its judge',
  }),
  setting({
    key: 'eval_limits.default_import_traces_max',
    env: 'SERVICE_EVAL_LIMITS_DEFAULT_IMPORT_TRACES_MAX',
    type: integer(),
    default: 50,
    doc: 'number of traces that an import reads when the request does not set a limit',
  }),
  setting({
    key: 'eval_body_limit_bytes',
    env: 'SERVICE_EVAL_BODY_LIMIT_BYTES',
    type: integer({ min: 1 }),
    default: 2_097_152,
    doc: 'maximum request body of the eval routes',
  }),
] as const;
