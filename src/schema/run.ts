import { z } from 'zod';
import { CutOff } from './cut-off.ts';
import { nullsAbsent } from './endpoint.ts';
import { Json, JsonObject } from './json.ts';
import { modelSettingFields, modelSettingsOf, ReasoningEffort } from './model-settings.ts';
import { ToolDescriptor } from './tool-descriptor.ts';
import { TraceContext } from './trace-context.ts';

/** Runs (runtime.md 2.4 to 2.7). Times are seconds since the epoch, except `waiting.tickets[].updated_at` (ms). */

export const RunStatus = z.enum(['created', 'running', 'waiting', 'done']);
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
  .meta({ id: 'Termination', description: 'Why a run has ended.' });
export type Termination = z.infer<typeof Termination>;

export const ResumeMode = z.enum([
  'replay_tool_call',
  'use_decision_as_tool_result',
  'pass_decision_to_tool',
]);
export type ResumeMode = z.infer<typeof ResumeMode>;

export const TicketBelow = z
  .object({
    id: z.string(),
    tool: z.string(),
    arguments: Json,
    digest: z.string().meta({ description: 'of `tool` and `arguments`, as that of every ticket' }),
    agent_id: z.string().meta({ description: 'whose call it is' }),
    run_id: z.string().meta({ description: 'of that agent' }),
    resume_mode: ResumeMode,
  })
  .meta({ id: 'TicketBelow', description: 'A ticket that a delegate waits with.' });
export type TicketBelow = z.infer<typeof TicketBelow>;

/** What a ticket asks for, and what a decision on it can be bound to. */
export const ticketContent = {
  digest: z.string().optional().meta({
    description:
      'SHA-256, in hex, of the RFC 8785 JSON of `{"arguments":…,"tool":…}`, or of `tickets` where there are some',
  }),
  tickets: z
    .array(TicketBelow)
    .optional()
    .meta({ description: 'of a delegating call: what its delegate waits with' }),
};

export const WaitingTicket = z.object({
  ticket_id: z.string(),
  tool_call_id: z.string(),
  tool_name: z.string(),
  arguments: Json.optional(),
  resume_mode: ResumeMode,
  ...ticketContent,
  reason: z.string().optional(),
  message: z.string().optional().meta({ description: 'what is asked, for people' }),
  updated_at: z.int(),
});
export type WaitingTicket = z.infer<typeof WaitingTicket>;

/** A call of the step of now that nobody has to decide on, and that is not done. */
export type GoingCall = Pick<z.infer<typeof WaitingTicket>, 'tool_call_id' | 'tool_name' | 'arguments'> & {
  /** Of one that has waited. */
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

const { temperature, max_tokens, top_p, reasoning_effort, ...laterSettings } = modelSettingFields;

/** Five keys are always present, `null` when unset; the others only when they are set. */
export const InferenceOverrides = z.object({
  upstream_model: z.string().nullable(),
  temperature: temperature.unwrap().nullable(),
  max_tokens: max_tokens.unwrap().nullable(),
  top_p: top_p.unwrap().nullable(),
  reasoning_effort: ReasoningEffort.nullable(),
  ...laterSettings,
});
export type InferenceOverrides = z.infer<typeof InferenceOverrides>;

const OverrideFields = z.strictObject({
  upstream_model: z
    .string()
    .refine((name) => name.trim() !== '', 'inference override upstream_model cannot be empty')
    .optional()
    .meta({ description: 'name of another model at the same provider; not for model pools' }),
  ...modelSettingFields,
});

/** As a request brings them. */
export const RunOverrides = nullsAbsent(OverrideFields).meta({
  id: 'RunOverrides',
  description:
    'Settings of the model calls of this run, over those of the agent and of its model. Null is unset.',
});
export type RunOverrides = z.infer<typeof RunOverrides>;
export type RunOverridesInput = z.input<typeof RunOverrides>;

export function inferenceOverrides({ upstream_model, ...settings }: RunOverrides): InferenceOverrides {
  const { temperature, max_tokens, top_p, reasoning_effort, ...others } = settings;
  return {
    upstream_model: upstream_model ?? null,
    temperature: temperature ?? null,
    max_tokens: max_tokens ?? null,
    top_p: top_p ?? null,
    reasoning_effort: reasoning_effort ?? null,
    ...modelSettingsOf(others),
  };
}

export const RunOrigin = z.enum(['user', 'mcp', 'subagent', 'internal']);
export type RunOrigin = z.infer<typeof RunOrigin>;
export const RunAdapter = z.enum(['internal', 'acp', 'ai_sdk', 'ag_ui', 'a2a', 'mcp']);
export type RunAdapter = z.infer<typeof RunAdapter>;
export const RunMode = z.enum(['foreground', 'scheduled', 'resume', 'internal_wake']);
export type RunMode = z.infer<typeof RunMode>;

const SeqRange = z.object({ from_seq: z.int(), to_seq: z.int() });

export const RunInput = z.object({
  thread_id: z.string(),
  range: SeqRange.optional(),
  trigger_message_ids: z.array(z.string()).optional(),
});
export type RunInput = z.infer<typeof RunInput>;

export const RunOutput = z.object({
  thread_id: z.string(),
  range: SeqRange.optional(),
  message_ids: z.array(z.string()).optional(),
});
export type RunOutput = z.infer<typeof RunOutput>;

/** A decision on a suspended tool call, as stored and as seen in events (runtime.md 2.9). */
export const Resume = z.object({
  decision_id: z.string(),
  action: z.enum(['resume', 'cancel']),
  result: Json,
  reason: z.string().optional(),
  decided_by: z
    .string()
    .optional()
    .meta({ description: 'who decided, as the client says; `timeout` for a time limit' }),
  below: z
    .array(z.object({ run_id: z.string(), ticket_id: z.string(), action: z.enum(['resume', 'cancel']) }))
    .optional()
    .meta({ description: 'of a delegating call: the tickets below it that are decided' }),
  updated_at: z.int(),
});
export type Resume = z.infer<typeof Resume>;

export const Activation = z.object({
  intent: z.object({
    agent_id: z.string().optional(),
    thread_id: z.string(),
    kind: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('new_intent') }),
      z.object({ kind: z.literal('hitl_resume'), run_id: z.string() }),
      z.object({ kind: z.literal('continuation_from_run'), run_id: z.string() }),
    ]),
  }),
  input: RunInput.optional(),
  options: z.object({
    overrides: InferenceOverrides.optional(),
    frontend_tools: z
      .array(ToolDescriptor)
      .optional()
      .meta({ description: 'tools that the client of this run executes' }),
    output_schema: JsonObject.nullable().optional().meta({
      description: 'JSON Schema of the structured result in place of that of the agent; null: there is none',
    }),
  }),
  trace: z.object({
    parent_run_id: z.string().optional(),
    parent_thread_id: z.string().optional(),
    parent_tool_call_id: z.string().optional(),
    root_run_id: z
      .string()
      .optional()
      .meta({ description: 'of a sub-agent: the run at the top, below which it is counted' }),
    origin: RunOrigin,
    adapter: RunAdapter,
    run_mode: RunMode,
    dispatch_id: z.string().optional(),
    session_id: z.string().optional(),
    transport_request_id: z.string().optional(),
    context: TraceContext.optional().meta({
      description: 'of the request or the call that the run came with',
    }),
  }),
  resolution_id: z.string().optional(),
  seeded_decisions: z
    .array(z.tuple([z.string(), Resume]))
    .optional()
    .meta({ description: 'pairs of a tool call id and the decision on it' }),
});
export type Activation = z.infer<typeof Activation>;

export const StateSnapshot = z.object({ revision: z.int(), extensions: JsonObject });
export type StateSnapshot = z.infer<typeof StateSnapshot>;

/** Any JSON, also null. Absent where a run has no schema, or has ended otherwise than with a value that fits it. */
export const StructuredOutput = Json.optional().meta({
  description: 'the value that fits the schema of the run',
});

const ErrorPayload = z.object({ message: z.string() });

export const Run = z
  .object({
    run_id: z.string(),
    thread_id: z.string(),
    agent_id: z.string(),
    parent_run_id: z.string().nullable(),
    resolution_id: z.string().optional(),
    activation: Activation.optional(),
    input: RunInput.optional(),
    output: RunOutput.optional(),
    status: RunStatus,
    termination_reason: Termination.optional(),
    final_output: z.string().optional(),
    structured_output: StructuredOutput,
    output_repairs: z
      .int()
      .optional()
      .meta({ description: 'answers that did not fit the schema and were asked for again' }),
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
    updated_at: z.int(),
    steps: z.int().meta({ description: 'finished inference rounds' }),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cut_off: CutOff.optional(),
    cost_usd: z.number().optional().meta({
      description:
        'What the inferences of the run cost, with attempts that broke off; inferences without a price are not part of it. Omitted where no price is known. Runs that this one started have costs of their own.',
    }),
    state: StateSnapshot.nullable(),
  })
  .meta({ id: 'Run', description: 'The run. Times are seconds since the epoch.' });
export type Run = z.infer<typeof Run>;

export const RunList = z
  .object({
    items: z.array(Run),
    total: z.int(),
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
