import { z } from 'zod';
import { RunAdapter, RunMode, RunOrigin } from './activation.ts';
import { Json, JsonObject } from './json.ts';
import { Message } from './message.ts';
import { ResumeMode, StateSnapshot, StructuredOutput, Termination, ticketContent } from './run.ts';

/** Events of a run, for run streams and the event log (runtime.md 6.2). */

export const RunIdentity = z.object({
  thread_id: z.string(),
  parent_thread_id: z.string().optional(),
  run_id: z.string(),
  parent_run_id: z.string().optional(),
  agent_id: z.string(),
  parent_tool_call_id: z.string().optional(),
  dispatch_id: z.string().optional(),
  session_id: z.string().optional(),
  transport_request_id: z.string().optional(),
  origin: RunOrigin,
  run_mode: RunMode.optional(),
  adapter: RunAdapter.optional(),
});
export type RunIdentity = z.infer<typeof RunIdentity>;

export const Usage = z.object({
  prompt_tokens: z.int().optional(),
  completion_tokens: z.int().optional(),
  total_tokens: z.int().optional(),
  cache_read_tokens: z.int().optional(),
  cache_creation_tokens: z.int().optional(),
  thinking_tokens: z.int().optional(),
});
export type Usage = z.infer<typeof Usage>;

/** The time limit of a ticket: at this time the outcome is applied like the decision of a person. */
export const TicketExpiry = z.object({
  at: z.int().meta({ description: 'milliseconds since the epoch' }),
  outcome: z.enum(['cancel', 'resume']),
});
export type TicketExpiry = z.infer<typeof TicketExpiry>;

/** The wait of a call (runtime.md 6.4, agent-loop.md 7.2). */
export const Ticket = z.object({
  suspension: z.object({
    id: z.string(),
    action: z.string(),
    message: z.string().optional(),
    parameters: Json.optional(),
    response_schema: Json.optional(),
  }),
  pending: z.object({ id: z.string(), name: z.string(), arguments: Json }),
  resume_mode: ResumeMode,
  ...ticketContent,
  expires: TicketExpiry.optional(),
  resume_with: Json.optional().meta({
    description: 'value that the tool receives with the decision to resume',
  }),
});
export type Ticket = z.infer<typeof Ticket>;

/** A request of an inference that failed and was repeated. */
export const RepeatedRequest = z.object({
  failed_at: z.int().meta({ description: 'milliseconds since the epoch' }),
  error: z.string(),
  wait_ms: z.int().meta({ description: 'pause before the next request' }),
});
export type RepeatedRequest = z.infer<typeof RepeatedRequest>;

const retries = z
  .array(RepeatedRequest)
  .optional()
  .meta({ description: 'failed requests of the inference that were repeated; the last 50' });

export const ToolResult = z.object({
  tool_name: z.string(),
  status: z.enum(['success', 'pending', 'error']),
  data: Json,
  message: z.string().nullable(),
  suspension: Ticket.optional(),
  metadata: JsonObject.optional(),
});
export type ToolResult = z.infer<typeof ToolResult>;

/** The output of a remote agent (a2a.md 12.6). */
const RemoteOutput = z.object({
  text: z.string().optional(),
  artifacts: z
    .array(
      z.object({
        id: z.string().optional(),
        name: z.string().optional(),
        media_type: z.string().optional(),
        content: Json,
      }),
    )
    .readonly()
    .optional(),
  raw: Json.optional(),
});

export const RunResult = z.object({
  response: z.string(),
  status: z.string(),
  output: RemoteOutput.optional(),
  status_reason: z.string().optional(),
  structured_output: StructuredOutput,
});
export type RunResult = z.infer<typeof RunResult>;

const event = <const T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ event_type: z.literal(type), ...shape });

const id = z.string();

export const RunEvent = z
  .discriminatedUnion('event_type', [
    event('run_start', {
      thread_id: id,
      run_id: id,
      parent_run_id: id.optional(),
      turn_id: id.optional(),
      identity: RunIdentity.optional(),
    }),
    event('run_finish', {
      thread_id: id,
      run_id: id,
      identity: RunIdentity.optional(),
      result: RunResult.optional(),
      termination: Termination,
      retries,
    }),
    event('text_delta', { delta: z.string() }),
    event('reasoning_delta', { delta: z.string() }),
    event('reasoning_encrypted_value', { encrypted_value: z.string() }),
    event('tool_call_start', { id, name: z.string() }),
    event('tool_call_delta', { id, args_delta: z.string() }),
    event('tool_call_ready', { id, name: z.string(), arguments: Json }),
    // The call has passed its gates, and its tool begins; again when a call that was suspended continues.
    event('tool_call_executing', { id, name: z.string() }),
    event('tool_call_done', {
      id,
      message_id: id,
      result: ToolResult,
      outcome: z.enum(['succeeded', 'failed', 'suspended']),
    }),
    event('tool_call_stream_delta', { id, name: z.string(), delta: z.string() }),
    event('tool_call_resumed', {
      target_id: id,
      message_id: id,
      action: z.enum(['resume', 'cancel']),
      result: Json,
    }),
    event('tool_call_cancel', { id, name: z.string(), reason: z.string() }),
    // `error`: why the attempt failed; it is repeated from the last checkpoint.
    event('stream_reset', {
      reason: z.string(),
      error: z.string().optional(),
      attempt: z.int().optional().meta({ description: 'number of the next attempt, after an error' }),
      max_attempts: z.int().optional().meta({ description: 'attempts of the step in all' }),
      text: z.string().optional().meta({ description: 'the withdrawn text of the step' }),
      retries,
    }),
    event('messages_snapshot', { messages: z.array(Message) }),
    event('activity_snapshot', {
      message_id: id,
      activity_type: z.string(),
      content: Json,
      replace: z.boolean().optional(),
    }),
    event('activity_delta', { message_id: id, activity_type: z.string(), patch: z.array(Json) }),
    event('step_start', { message_id: id }),
    event('step_end', {}),
    event('inference_complete', {
      model: z.string(),
      usage: Usage.optional(),
      cost_usd: z.number().optional().meta({ description: 'omitted where the model has no price' }),
      duration_ms: z.int(),
      first_output_ms: z
        .int()
        .optional()
        .meta({ description: 'time until the first output; omitted where nothing was streamed' }),
      truncated: z
        .literal(true)
        .optional()
        .meta({ description: 'the completion was cut off at the limit of its tokens' }),
      retries,
    }),
    event('state_snapshot', { snapshot: StateSnapshot }),
    event('state_delta', { delta: z.array(Json) }),
    event('error', { message: z.string(), code: z.string().optional() }),
  ])
  .meta({ id: 'RunEvent', description: 'An event of a run, by `event_type`.' });
/**
 * An event of the stream of a run, by `event_type` (runtime.md 6.2). `run_start` is the first and `run_finish` the
 * last.
 *
 * @example
 * ```ts
 * const show = (event: RunEvent): void => {
 *   if (event.event_type === 'text_delta') process.stdout.write(event.delta);
 *   if (event.event_type === 'tool_call_ready') console.log(event.name, event.arguments);
 * };
 * ```
 */
export type RunEvent = z.infer<typeof RunEvent>;
export type RunEventOf<T extends RunEvent['event_type']> = Extract<RunEvent, { event_type: T }>;
