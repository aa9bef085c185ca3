import { integer } from '../kinds.ts';
import { setting } from '../setting.ts';

export const evalSettings = [
  setting({
    key: 'eval_limits.max_cells_per_sync_run',
    env: 'SERVICE_EVAL_LIMITS_MAX_CELLS_PER_SYNC_RUN',
    type: integer(),
    default: 100,
    doc: 'cells of one run of a dataset: fixtures × models × samples',
  }),
  setting({
    key: 'eval_limits.max_cells_per_async_run',
    env: 'SERVICE_EVAL_LIMITS_MAX_CELLS_PER_ASYNC_RUN',
    type: integer(),
    default: 10_000,
    doc: 'the same of a run that nobody waits for',
  }),
  setting({
    key: 'eval_limits.max_concurrent_matrix_cells',
    env: 'SERVICE_EVAL_LIMITS_MAX_CONCURRENT_MATRIX_CELLS',
    type: integer({ min: 1 }),
    default: 5,
    doc: 'cells of one run of a dataset that are played at a time',
  }),
  setting({
    key: 'eval_limits.max_cells_per_sync_online',
    env: 'SERVICE_EVAL_LIMITS_MAX_CELLS_PER_SYNC_ONLINE',
    type: integer(),
    default: 10,
    doc: 'cells of one online eval: models × samples',
  }),
  setting({
    key: 'eval_limits.max_concurrent_online_cells',
    env: 'SERVICE_EVAL_LIMITS_MAX_CONCURRENT_ONLINE_CELLS',
    type: integer({ min: 1 }),
    default: 5,
    doc: 'cells of one online eval that are played at a time',
  }),
  setting({
    key: 'eval_limits.max_samples_per_cell',
    env: 'SERVICE_EVAL_LIMITS_MAX_SAMPLES_PER_CELL',
    type: integer(),
    default: 20,
    doc: 'how often one cell may be played',
  }),
  setting({
    key: 'eval_limits.max_judge_revisions',
    env: 'SERVICE_EVAL_LIMITS_MAX_JUDGE_REVISIONS',
    type: integer(),
    default: 3,
    doc: 'how often an answer may be revised for its judge',
  }),
  setting({
    key: 'eval_limits.default_import_traces_max',
    env: 'SERVICE_EVAL_LIMITS_DEFAULT_IMPORT_TRACES_MAX',
    type: integer(),
    default: 50,
    doc: 'traces that are looked at when traces are imported and nobody says how many',
  }),
  setting({
    key: 'eval_body_limit_bytes',
    env: 'SERVICE_EVAL_BODY_LIMIT_BYTES',
    type: integer({ min: 1 }),
    default: 2_097_152,
    doc: 'largest request body of the eval routes',
  }),
] as const;
