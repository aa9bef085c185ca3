import { z } from 'zod';
import { Activation, RunInput, RunOutput } from './activation.ts';
import { Actor } from './actor.ts';
import { CutOff } from './cut-off.ts';
import { Json, JsonObject } from './json.ts';

/** Runs (runtime.md 2.4 to 2.7). Times are seconds since the epoch, except `waiting.tickets[].updated_at` (ms). */

export const RunStatus = z.enum(['created', 'running', 'waiting', 'done']);
/**
 * The status of a run (runtime.md 7.1): queued, executing, waiting for a decision, input or work, or ended.
 *
 * @example
 * ```ts
 * const status: RunStatus = 'waiting';
 * for await (const { run_id, waiting } of client.runs.list({ status })) console.log(run_id, waiting?.reason);
 * ```
 */
export type RunStatus = z.infer<typeof RunStatus>;

export const StopCode = z.enum([
  'max_rounds',
  'token_budget',
  'timeout',
  'consecutive_errors',
  'stop_on_tool',
  'content_match',
  'content_match_invalid_regex',
  'loop_detection',
  'invalid_output',
  'budget',
]);
export type StopCode = z.infer<typeof StopCode>;

export const Termination = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('natural_end') }),
    z.object({ type: z.literal('behavior_requested') }),
    z.object({ type: z.literal('cancelled') }),
    z.object({ type: z.literal('suspended') }),
    z.object({
      type: z.literal('stopped'),
      value: z.object({ code: StopCode, detail: z.string().optional() }),
    }),
    z.object({ type: z.literal('blocked'), value: z.string() }),
    z.object({ type: z.literal('error'), value: z.string() }),
  ])
  .meta({ id: 'Termination', description: 'The reason why a run ended.' });
/**
 * The reason why a run ended (runtime.md 2.7). The stream of a run that waits ends with `suspended`, and the run
 * continues after the decision.
 *
 * @example
 * ```ts
 * const describe = (termination: Termination): string => {
 *   if (termination.type === 'stopped') return `stopped: ${termination.value.code}`;
 *   return 'value' in termination ? `${termination.type}: ${termination.value}` : termination.type;
 * };
 * ```
 */
export type Termination = z.infer<typeof Termination>;

export const ResumeMode = z.enum([
  'replay_tool_call',
  'use_decision_as_tool_result',
  'pass_decision_to_tool',
]);
export type ResumeMode = z.infer<typeof ResumeMode>;

/** The users who decide a ticket (identity.md 4): by default each one with the grant. */
const deciders = z.literal('others').optional().meta({
  description:
    '`others`: neither the user of the run nor a user behind its credential may decide; absent for tickets without this rule',
});

export const TicketBelow = z
  .object({
    id: z.string(),
    tool: z.string(),
    arguments: Json,
    digest: z.string().meta({ description: 'digest of `tool` and `arguments`, like that of every ticket' }),
    agent_id: z.string().meta({ description: 'id of the agent of the call' }),
    run_id: z.string().meta({ description: 'id of the run of that agent' }),
    resume_mode: ResumeMode,
    reason: z.string().optional().meta({
      description: '`mcp:auth_required` if the call waits until its user connects an account',
    }),
    deciders,
  })
  .meta({ id: 'TicketBelow', description: 'A ticket of a waiting delegate.' });
export type TicketBelow = z.infer<typeof TicketBelow>;

/** The contents of a ticket, to which a decision can be bound. */
export const ticketContent = {
  digest: z.string().optional().meta({
    description:
      'SHA-256, in hex, of the RFC 8785 JSON of `{"arguments":…,"tool":…}`, or of `tickets` if it lists any',
  }),
  tickets: z
    .array(TicketBelow)
    .optional()
    .meta({ description: 'for a delegating call: the tickets of its delegate' }),
  deciders,
};

export const WaitingTicket = z.object({
  ticket_id: z.string(),
  tool_call_id: z.string(),
  tool_name: z.string(),
  arguments: Json.optional(),
  call_arguments: Json.optional().meta({
    description: 'the arguments of the call, if `arguments` are about what the call lacks',
  }),
  resume_mode: ResumeMode,
  ...ticketContent,
  reason: z.string().optional(),
  message: z.string().optional().meta({ description: 'the question, for people' }),
  updated_at: z.int(),
});
export type WaitingTicket = z.infer<typeof WaitingTicket>;

/** An unfinished call of the current step that needs no decision. */
export type GoingCall = Pick<z.infer<typeof WaitingTicket>, 'tool_call_id' | 'tool_name' | 'arguments'> & {
  /** Set for a call that was suspended before. */
  resume_mode?: ResumeMode;
};

export const Waiting = z.object({
  reason: z.enum([
    'tool_permission',
    'user_input',
    'background_tasks',
    'external_event',
    'rate_limit',
    'manual_pause',
  ]),
  ticket_ids: z.array(z.string()).optional(),
  tickets: z.array(WaitingTicket).optional(),
  since_dispatch_id: z.string().optional(),
  message: z.string().optional(),
});
export type Waiting = z.infer<typeof Waiting>;

export const StateSnapshot = z.object({ revision: z.int(), extensions: JsonObject });
export type StateSnapshot = z.infer<typeof StateSnapshot>;

/** Any JSON, also null. Absent if the run has no schema, or did not end with a value that fits it. */
export const StructuredOutput = Json.optional().meta({
  description: 'the value that matches the schema of the run',
});

const ErrorPayload = z.object({ message: z.string() });

export const Run = z
  .object({
    run_id: z.string(),
    thread_id: z.string(),
    agent_id: z.string(),
    parent_run_id: z.string().nullable(),
    owner: z.string().optional().meta({ description: 'the owner of its thread' }),
    user: z.string().optional().meta({
      description: 'the user who gave its input, for whom the run acts; absent for input without a user',
    }),
    credential: Actor.shape.credential.optional().meta({
      description: 'the credential of the request that gave its input; absent for input without one',
    }),
    resolution_id: z.string().optional(),
    agent_version: z
      .int()
      .optional()
      .meta({ description: 'the number of the published version of the agent' }),
    activation: Activation.optional(),
    input: RunInput.optional(),
    output: RunOutput.optional(),
    status: RunStatus,
    termination_reason: Termination.optional(),
    final_output: z.string().optional(),
    structured_output: StructuredOutput,
    output_repairs: z.int().optional().meta({ description: 'invalid results that were requested again' }),
    error_payload: ErrorPayload.optional(),
    dispatch_id: z.string().optional(),
    session_id: z.string().optional(),
    transport_request_id: z.string().optional(),
    waiting: Waiting.optional(),
    outcome: z
      .object({
        termination_reason: Termination,
        final_output: z.string().optional(),
        structured_output: StructuredOutput,
        error_payload: ErrorPayload.optional(),
      })
      .optional(),
    created_at: z.int(),
    started_at: z.int().optional(),
    finished_at: z.int().optional(),
    started_at_ms: z.int().optional().meta({ description: '`started_at` in milliseconds' }),
    finished_at_ms: z.int().optional().meta({ description: '`finished_at` in milliseconds' }),
    updated_at: z.int(),
    steps: z.int().meta({ description: 'finished inference rounds' }),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cut_off: CutOff.optional(),
    cost_usd: z.number().optional().meta({
      description:
        'Cost of the inferences of the run, including interrupted attempts, without inferences that have no price. Omitted if no price is known. Runs that this run started have separate costs.',
    }),
    state: StateSnapshot.nullable(),
  })
  .meta({
    id: 'Run',
    description: 'The run. Times are seconds since the epoch, except those that end in `_ms`.',
  });
/**
 * The record of a run (runtime.md 2.4). Times are in seconds since the epoch, except those of tickets and those that end
 * in `_ms`, which are in milliseconds. `cost_usd` is absent if no price of its models is known.
 *
 * @example
 * ```ts
 * const run: Run = await client.runs.get('run-1');
 * if (run.status === 'waiting') console.log(run.waiting?.tickets?.map(({ tool_name }) => tool_name));
 * else console.log(run.final_output, run.input_tokens, run.output_tokens);
 * ```
 */
export type Run = z.infer<typeof Run>;

export const ListedRun = Run.extend({
  preview: z.string().nullable().optional().meta({
    description: 'with `preview=true`: the first 60 characters of the input, or null if it has no text',
  }),
}).meta({ id: 'ListedRun', description: 'A run in a list.' });
/**
 * A run in a list (runtime.md 5.2). `preview` is only present if the list was requested with it.
 *
 * @example
 * ```ts
 * const label = ({ run_id, preview }: ListedRun): string => preview ?? run_id;
 * for await (const run of client.runs.list({ status: 'waiting', preview: true })) console.log(label(run));
 * ```
 */
export type ListedRun = z.infer<typeof ListedRun>;

export const RunList = z
  .object({
    items: z.array(ListedRun),
    total: z.int().meta({ description: 'number of runs that match, or that a search examines' }),
    searched: z.int().optional().meta({
      description:
        'for a search: how many of `total` runs were examined up to the end of this page; a page may be short, or empty, although `has_more` is true',
    }),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
    prev_cursor: z.string().optional(),
  })
  .meta({ id: 'RunList', description: 'One page of runs.' });

export const ActiveRun = z
  .object({
    active_run: z
      .object({
        thread_id: z.string(),
        run_id: z.string(),
        agent_id: z.string(),
        status: RunStatus,
        termination_reason: Termination.optional(),
        dispatch_id: z.string().optional(),
        session_id: z.string().optional(),
        waiting: Waiting.optional(),
      })
      .nullable(),
  })
  .meta({ id: 'ActiveRun', description: 'The run, or null.' });
