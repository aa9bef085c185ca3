import { z } from 'zod';
import { Actor } from './actor.ts';
import { Json, JsonObject } from './json.ts';
import { InferenceOverrides } from './run-overrides.ts';
import { ToolDescriptor } from './tool-descriptor.ts';
import { TraceContext } from './trace-context.ts';

/** The start of a run: input, options, origin, and the decisions with which it continues (runtime.md 2.5, 2.9). */

export const RunOrigin = z.enum(['user', 'mcp', 'subagent', 'internal']);
export type RunOrigin = z.infer<typeof RunOrigin>;
export const RunAdapter = z.enum(['internal', 'acp', 'ai_sdk', 'ag_ui', 'a2a', 'mcp', 'openai']);
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

/** A decision on a suspended tool call, as stored and as part of events (runtime.md 2.9). */
export const Resume = z.object({
  decision_id: z.string(),
  action: z.enum(['resume', 'cancel']),
  result: Json,
  reason: z.string().optional(),
  decided_by: z.string().optional().meta({
    description:
      'id of the user who decided, or `~admin`; without a credential, the name that the client sent; `timeout` for a time limit',
  }),
  decided_as: z
    .string()
    .optional()
    .meta({ description: 'name of the person who decided, as a client with a credential sent it' }),
  principal: Actor.optional().meta({
    description: 'the principal that decided; absent for decisions without a credential',
  }),
  digest: z.string().optional().meta({ description: 'digest of the decided call, or of the decided list' }),
  below: z
    .array(z.object({ run_id: z.string(), ticket_id: z.string(), action: z.enum(['resume', 'cancel']) }))
    .optional()
    .meta({ description: 'for a delegating call: the decided tickets of its delegate' }),
  updated_at: z.int(),
});
export type Resume = z.infer<typeof Resume>;

/** The end of a request with a key, which a later request continued: from it, the request is answered again. */
const EndedLeg = z.object({
  number: z.int(),
  to_seq: z.int().meta({ description: 'number of the last message of the thread at its end' }),
  calls: z.array(z.string()).meta({ description: 'calls that the client had to execute' }),
  text: z.string().meta({ description: 'the question to the user' }),
});
export type EndedLeg = z.infer<typeof EndedLeg>;

/** The request of a client of OpenAI that started or continued the run last. */
export const Leg = z
  .object({
    number: z.int().meta({ description: 'number of the request among those of the run, from 0' }),
    seq: z.int().meta({ description: 'number of the last message of the thread before the request' }),
    chat: z
      .object({
        id: z.string(),
        digest: z.string().meta({ description: 'digest of the answers that the request repeats' }),
        asked: z.string().meta({ description: 'digest of the last message of its user' }),
        behind: z.string().optional().meta({
          description:
            'digest of the answers in front of the last one, if the request continues the last one',
        }),
        is_whole: z.literal(true).optional().meta({ description: 'the response is not a stream' }),
      })
      .optional()
      .meta({ description: 'the chat of a front end that the request belongs to' }),
    is_keyed: z.literal(true).optional().meta({ description: 'the request has an `Idempotency-Key`' }),
    ended: z.array(EndedLeg).optional().meta({ description: 'ends of earlier requests with a key' }),
  })
  .meta({ id: 'RunLeg', description: 'A request that started or continued a run (openai.md 2.5).' });
export type Leg = z.infer<typeof Leg>;

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
      description:
        'JSON Schema of the structured result in place of that of the agent; null: no structured result',
    }),
    instructions: z.string().optional().meta({
      description: 'system text of the client, which follows the system prompt of the agent',
    }),
    continue_truncated: z.literal(false).optional().meta({
      description: 'false: a completion that was cut off is not continued',
    }),
    max_tool_calls: z.int().min(1).optional().meta({
      description: 'calls of tools of the agent that the run executes at most',
    }),
    leg: Leg.optional(),
    request_echo: JsonObject.optional().meta({
      description: 'parameters of the request that are kept for its client',
    }),
  }),
  trace: z.object({
    parent_run_id: z.string().optional(),
    parent_thread_id: z.string().optional(),
    parent_tool_call_id: z.string().optional(),
    root_run_id: z
      .string()
      .optional()
      .meta({ description: 'for a sub-agent: the root run, which limits the number of sub-agent runs' }),
    origin: RunOrigin,
    adapter: RunAdapter,
    run_mode: RunMode,
    dispatch_id: z.string().optional(),
    session_id: z.string().optional(),
    transport_request_id: z.string().optional(),
    context: TraceContext.optional().meta({
      description: 'trace context of the request or call that started the run',
    }),
  }),
  resolution_id: z.string().optional(),
  seeded_decisions: z
    .array(z.tuple([z.string(), Resume]))
    .optional()
    .meta({ description: 'pairs of a tool call id and the decision on it' }),
});
export type Activation = z.infer<typeof Activation>;
