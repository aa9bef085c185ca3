import { boolean, choice, fieldNames, integer, path, proportion, text } from '../kinds.ts';
import { setting } from '../setting.ts';

export const traceSettings = [
  setting({
    key: 'observability_disable',
    env: 'SERVICE_OBSERVABILITY_DISABLE',
    type: boolean(),
    default: false,
    doc: 'no traces and no statistics of agents; metrics stay',
  }),
  setting({
    key: 'observe_all_agents',
    env: 'SERVICE_OBSERVE_ALL_AGENTS',
    type: boolean(),
    default: false,
    doc: 'traces of agents without plugin `observability` too',
  }),
  setting({
    key: 'trace.sink_dir',
    env: 'SERVICE_PERSISTENT_SINK_DIR',
    type: path(),
    doc: 'folder of the traces alone; unset = in the storage folder',
  }),
  setting({
    key: 'trace.sampling_disable',
    env: 'SERVICE_TRACE_SAMPLING_DISABLE',
    type: boolean(),
    doc: 'keep the trace of every run that is observed; unset = true with profile `demo`, otherwise false',
  }),
  setting({
    key: 'trace.sampling_proportion',
    env: 'SERVICE_TRACE_SAMPLING_PROPORTION',
    type: proportion(),
    default: 0.01,
    doc: 'share of runs without errors whose traces are kept',
  }),
  setting({
    key: 'trace.buffer_max_events',
    env: 'SERVICE_TRACE_BUFFER_MAX_EVENTS',
    type: integer({ min: 1 }),
    default: 10_000,
    doc: 'events held of a run until it is known whether its trace is kept; with more it is dropped',
  }),
  setting({
    key: 'trace.retention_days',
    env: 'SERVICE_TRACE_RETENTION_DAYS',
    type: integer(),
    default: 7,
    doc: 'age at which traces are removed that nobody has pinned or refers to',
  }),
  setting({
    key: 'trace.prune_interval_secs',
    env: 'SERVICE_TRACE_PRUNE_INTERVAL_SECS',
    type: integer({ min: 1, max: 2_147_483 }),
    default: 86_400,
    doc: 'how often old traces are removed',
  }),
  setting({
    key: 'trace.capture_content',
    env: 'SERVICE_TRACE_CAPTURE_CONTENT',
    type: boolean(),
    doc: 'prompts and answers in traces; unset = true with profile `demo`, otherwise false',
  }),
  setting({
    key: 'trace.capture_tool_io',
    env: 'SERVICE_TRACE_CAPTURE_TOOL_IO',
    type: choice(['disabled', 'arguments', 'results', 'arguments_and_results']),
    default: 'disabled',
    doc: 'arguments and results of tools in traces, with `***` for what is called like a secret',
  }),
  setting({
    key: 'trace.tool_io_fields',
    env: 'SERVICE_TRACE_TOOL_IO_FIELDS',
    type: fieldNames(),
    doc: 'fields of them that are shown; unset = all',
  }),
  setting({
    key: 'trace.max_payload_bytes',
    env: 'SERVICE_TRACE_MAX_PAYLOAD_BYTES',
    type: integer({ min: 1 }),
    default: 8192,
    doc: 'largest of them; in place of a larger one its size is told',
  }),
  setting({
    key: 'release_tag',
    env: 'SERVICE_RELEASE_TAG',
    type: text(),
    doc: 'release that events of traces name',
  }),
] as const;
