import { readError } from '../../src/client/errors.ts';
import { REFUSED } from '../../src/http/openapi-refusals.ts';
import { MODEL_ERRORS, type ModelErrorClass } from '../../src/models/errors.ts';
import { REASONS } from '../../src/protocols/a2a/errors.ts';
import { RPC_CODES } from '../../src/protocols/mcp/errors.ts';
import { ErrorCode } from '../../src/schema/error-body.ts';
import { StopCode, Termination } from '../../src/schema/run.ts';
import { TOOL_CODES } from '../../src/tools/coded-error.ts';
import { TOOL_ERROR_PREFIXES, type ToolErrorKind } from '../../src/tools/tool.ts';
import { code, rowOf, tableOf } from './fields.ts';
import type { GeneratedTable } from './generated.ts';

/** Codes of errors, with advice for each. The types require one row for each code of the service. */

const PAGE = 'src/docs/reference/errors.md';

const STATUS_ADVICE: Readonly<Record<keyof typeof REFUSED, string>> = {
  400: 'Correct the request. Do not repeat it unchanged.',
  401: 'Send a valid token, or a credential from which the service can derive a scope.',
  402: 'Wait until `resets_at`, or ask an administrator to raise the budget.',
  403: 'Ask for the grant in `needs`, add the host to `allowed_hosts`, or send the request from a page of an allowed origin.',
  404: 'Check the id, and the scope of the credential.',
  408: 'Send the body faster or in a smaller request, then repeat it.',
  409: 'Read the current state, decide again, and send a new request.',
  410: 'Read the list or the log from its beginning.',
  413: 'Send less, or raise the limit that the message names.',
  415: 'Send JSON with `Content-Type: application/json` and without an encoding.',
  422: 'Correct the field that the message names.',
  429: 'Wait for the seconds in `Retry-After`, and check the token.',
  500: 'Report the request id to the operator: the log has the error under it. Repeat only requests that are safe to repeat.',
  501: 'Ask the operator to configure the feature.',
  503: 'Repeat the request with a growing delay, at least the seconds in `Retry-After`.',
};

/** The class of `troupe/client` that each status becomes. */
const CLASSES = new Map(
  await Promise.all(
    Object.keys(REFUSED).map(async (status) => {
      const { name } = await readError('GET /', new Response('', { status: Number(status) }));
      return [status, name] as const;
    }),
  ),
);

const statusesMarkdown = (): string =>
  tableOf(
    ['Status', 'When', 'Action of the client', '`troupe/client`'],
    Object.entries(REFUSED).map(([status, { description }]) => [
      status,
      description,
      rowOf(STATUS_ADVICE, status),
      code(CLASSES.get(status) ?? ''),
    ]),
  );

type Advised = readonly [when: string, action: string];

const HTTP_CODES: Readonly<Record<ErrorCode, Advised>> = {
  capability_mismatch: [
    '400: the agent cannot do what the request needs. Its model does not accept the kind of input, or an agent of another service does not support decisions, client tools or overrides.',
    'Change the request, or select another agent.',
  ],
  budget_exceeded: [
    '402: a budget that applies to the request is exhausted; `budget` is its id, and `resets_at` the end of its window.',
    'Wait until `resets_at`, or ask the operator to raise the limit.',
  ],
  data_integrity: [
    '500: a stored row that must exist is missing, or contradicts another.',
    'Stop the service and run `troupe doctor`.',
  ],
  forbidden: [
    '403: the credential is valid and the entity is visible, but the user lacks a grant; `needs` names it.',
    'Ask an administrator for the grant.',
  ],
  rate_limited: [
    '429: too many requests of a kind; `Retry-After` has the seconds to wait.',
    'Wait, then try again.',
  ],
  cross_site: [
    '403: a browser sent the request for a page of another site.',
    'If the site is yours, add it to `SERVICE_ADMIN_CORS_ALLOWED_ORIGINS`.',
  ],
};

const TERMINATIONS: Readonly<Record<Termination['type'], Advised>> = {
  natural_end: ['The model completed its response.', 'Read `result`.'],
  behavior_requested: ['A plugin ended the run.', 'Read `result`.'],
  cancelled: ['A client cancelled or interrupted the run.', 'None. Partial text is not part of the history.'],
  suspended: [
    'The run waits for a decision, for input, or for an authorization.',
    'Decide the tickets in `waiting`, or send input.',
  ],
  stopped: ['A stop condition applied; `value.code` names it.', 'See [Stop codes](#stop-codes).'],
  blocked: [
    'A gate forbade a call, or a handoff failed; `value` is the reason.',
    'Change the permission rules or the request.',
  ],
  error: ['The run failed; `value` is the message.', 'See [Failures of models](#failures-of-models).'],
};

const STOP_CODES: Readonly<Record<StopCode, Advised>> = {
  max_rounds: [
    'The turn used its `max_rounds` inferences and still requests calls.',
    'Send input to continue.',
  ],
  token_budget: ['Prompt and completion tokens exceed the budget.', 'Send input to start a new turn.'],
  timeout: [
    'The turn took longer than its time limit, or a remote agent than its `timeout_ms`.',
    'Send input to start a new turn.',
  ],
  consecutive_errors: ['Inferences failed this many times in a row.', 'Check the provider, then send input.'],
  stop_on_tool: ['The model called the tool, which was not executed.', 'Read the call in the last message.'],
  content_match: ['The pattern matches the text.', 'Read the last message.'],
  content_match_invalid_regex: ['The pattern does not compile.', 'Correct the agent.'],
  loop_detection: ['The last texts are equal.', 'Change the prompt, then send input.'],
  invalid_output: [
    'The result does not conform to the schema after the last repair; `detail` names the problems.',
    'Simplify the schema, or allow more repairs.',
  ],
  budget: [
    'A budget with `stop` is exceeded, or a decision has refused to raise one with `pause`; `detail` is its id. The run counts as failed.',
    'Wait for the next window, or raise the limit.',
  ],
};

const MODEL_ADVICE: Readonly<Record<ModelErrorClass, Advised>> = {
  rate_limited: [
    '429 of the provider',
    'None: the service retries. A pool with another model avoids the wait.',
  ],
  overloaded: [
    '503 or 529 of the provider',
    'None: the service retries. A pool with another model avoids the wait.',
  ],
  timeout: ['408 or 504, or no response within `timeout_secs`', 'Raise the limit, or reduce the request.'],
  provider: ['500, 502 and all other failures of the provider', 'Read the message of the provider.'],
  stream_interrupted: ['The stream broke, and its retries are used up.', 'None: the attempt is repeated.'],
  context_overflow: ['The request is larger than the context window.', 'Set a `context_policy`.'],
  invalid_request: ['400 or 422 of the provider, or a redirect', 'Correct the settings or the input.'],
  unauthorized: ['401 or 403 of the provider', 'Correct the key of the provider.'],
  model_not_found: ['404 of the provider', 'Correct `upstream_model`.'],
  content_filtered: ['A filter of the provider refused the request.', 'Change the input.'],
  unavailable: ['The circuit of the model is open, or no member of the pool is left.', 'Check the provider.'],
  attempts_exhausted: ['The switches of the pool are used up.', 'Raise `max_switches_per_session`.'],
  cancelled: ['The run was cancelled.', 'None.'],
};

const TOOL_KINDS: Readonly<Record<ToolErrorKind, string>> = {
  invalid_arguments: 'The arguments do not match the schema of the tool.',
  execution_failed: 'The tool reported a failure.',
  timeout: 'The tool exceeded its time limit; `metadata.timed_out` is true.',
  cancelled: 'The run was cancelled.',
  denied: 'The tool refused the call.',
  not_found: 'The object of the call does not exist.',
  internal: 'The tool threw another error.',
  unknown_tool: 'The agent has no tool with this id.',
};

const TOOL_CODE_MEANINGS: Readonly<Record<(typeof TOOL_CODES)[number], string>> = {
  unknown_skill: 'No skill with this id is available to the agent.',
  model_invocation_disabled: 'The skill has `model_invocable: false`.',
  invalid_arguments: 'An argument of the tool or of the skill is missing, unknown or not a scalar.',
  invalid_path: 'The path is not a relative path with `/` between its parts.',
  unsupported_path: 'The path is outside of the folders of the kind.',
  path_escapes_root: 'The path, or a link in it, leads out of the folder of the skill.',
  unsupported_operation: 'The skill has no files, or the script has an unknown extension.',
  invalid_skill_md: 'The `SKILL.md` of the skill is invalid.',
  script_timeout: 'The script did not end within 60 seconds.',
  io_error: 'The file or the interpreter cannot be used.',
};

const A2A_ADVICE: Readonly<Record<(typeof REASONS)[number], Advised>> = {
  INVALID_PARAMS: ['400: an invalid field, query or body', 'Correct the fields in `fieldViolations`.'],
  VERSION_NOT_SUPPORTED: ['400: `A2A-Version` is not supported', 'Send `metadata.supportedVersion`.'],
  CONTENT_TYPE_NOT_SUPPORTED: [
    '415: the media type of the request, of its parts or of the accepted outputs is not supported',
    'Use a mode that the agent card lists.',
  ],
  TASK_NOT_FOUND: [
    '404: unknown task or push configuration',
    'Check the id, and the scope of the credential.',
  ],
  TASK_NOT_CANCELABLE: ['409: the task has ended', 'None.'],
  UNSUPPORTED_OPERATION: [
    '400: the task has ended and accepts neither messages nor subscriptions; 501: no extended agent card is configured',
    'Start a new task.',
  ],
  PUSH_NOTIFICATION_NOT_SUPPORTED: ['400: push notifications are disabled', 'Subscribe to the task instead.'],
  BUDGET_EXCEEDED: [
    '402: a budget that applies to the request is exhausted; `metadata.budget` is its id',
    'Wait until `metadata.resets_at`, or ask the operator to raise the limit.',
  ],
  UNAUTHENTICATED: ['401: the credential is missing, wrong or expired', 'Send a valid credential.'],
  PERMISSION_DENIED: [
    '403: the principal lacks a grant, which `metadata.needs` names',
    'Ask a manager of users for the grant.',
  ],
  RATE_LIMITED: ['429: too many requests of a kind', 'Retry after the time in `Retry-After`.'],
};

const RPC_ADVICE: Readonly<Record<keyof typeof RPC_CODES, Advised>> = {
  PARSE_ERROR: ['The body is not JSON.', 'Correct the body.'],
  INVALID_REQUEST: [
    'The message is invalid, the session is unknown, or the request was refused (401, 403, 413).',
    'Correct the request; after 404, open a new session.',
  ],
  METHOD_NOT_FOUND: ['The method is not supported.', 'Use a method of the capabilities.'],
  INVALID_PARAMS: ['The parameters are invalid.', 'Correct the parameters.'],
  INTERNAL_ERROR: [
    'The service failed (500) or cannot respond now (503, with `Retry-After`).',
    'Repeat the request later.',
  ],
};

const advised = (
  head: string,
  codes: readonly (string | number)[],
  rows: Readonly<Record<string, Advised>>,
  label: (code: string | number) => string = code,
): string =>
  tableOf(
    [head, 'When', 'Action'],
    codes.map((each) => {
      const [when, action] = rowOf(rows, each);
      return [label(each), when, action];
    }),
  );

const modelsMarkdown = (): string =>
  tableOf(
    ['Class', 'Message', 'When', 'Retried', 'Action'],
    Object.entries(MODEL_ERRORS).map(([kind, { transient, text }]) => {
      const [when, action] = rowOf(MODEL_ADVICE, kind);
      return [code(kind), code(text('…')), when, transient ? 'yes' : 'no', action];
    }),
  );

const toolsMarkdown = (): string =>
  tableOf(
    ['Kind', 'Message begins with', 'When'],
    Object.entries(TOOL_ERROR_PREFIXES).map(([kind, prefix]) => [
      code(kind),
      prefix === '' ? '–' : code(prefix.trim()),
      rowOf(TOOL_KINDS, kind),
    ]),
  );

const toolCodesMarkdown = (): string =>
  tableOf(
    ['Code', 'When'],
    TOOL_CODES.map((each) => [code(each), rowOf(TOOL_CODE_MEANINGS, each)]),
  );

const rpcMarkdown = (): string =>
  advised('Code', Object.keys(RPC_CODES), RPC_ADVICE, (name) => `${code(rowOf(RPC_CODES, name))} ${name}`);

const terminations = Termination.options.map(({ shape }) => shape.type.value);

const tables: Readonly<Record<string, () => string>> = {
  'http-statuses': statusesMarkdown,
  'http-codes': () => advised('Code', ErrorCode.options, HTTP_CODES),
  terminations: () => advised('Type', terminations, TERMINATIONS),
  'stop-codes': () => advised('Code', StopCode.options, STOP_CODES),
  'model-errors': modelsMarkdown,
  'tool-failures': toolsMarkdown,
  'tool-codes': toolCodesMarkdown,
  'a2a-reasons': () => advised('Reason', REASONS, A2A_ADVICE),
  'rpc-codes': rpcMarkdown,
};

export const ERROR_TABLES: readonly GeneratedTable[] = Object.entries(tables).map(([name, table]) => ({
  name,
  page: PAGE,
  table,
}));
