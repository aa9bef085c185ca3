import type { z } from 'zod';
import type { AnswerPart } from '../schema/answer-part.ts';
import type { InputBlock } from '../schema/message.ts';
import { maskForeign, maskKnown } from '../schema/redaction/foreign.ts';
import type { Resume, ResumeMode } from '../schema/run.ts';
import type { Ticket, ToolResult } from '../schema/run-event.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { TraceContext } from '../schema/trace-context.ts';
import type { ModelAnswer, ModelQuestion } from './ask-model.ts';
import type { StateUpdate, StateView } from './state.ts';
import type { Mail, Tasks } from './tasks.ts';

/**
 * What a tool is in process, and how its outcome reaches the model (agent-loop.md 6).
 *
 * Guarantees: `execute` of a tool made by `defineTool` sees only arguments its schema accepts; whatever it
 * returns or throws becomes a `ToolResult` through one table of prefixes, so a failing tool never ends a run.
 * Relies on: the descriptor and the validation come from the same zod schema and cannot drift apart.
 * Costs: one zod parse a call.
 */

export type Json = z.infer<ReturnType<typeof z.json>>;

export type ToolProgress = {
  status: 'pending' | 'running' | 'done' | 'failed' | 'cancelled';
  /** 0 to 1 */
  progress?: number;
  loaded?: number;
  total?: number;
  message?: string;
};

/** Everything a tool may use besides its arguments; `signal` fires when the run is cancelled. */
export type ToolContext = {
  /** Whose threads and runs these are; those of another scope do not exist for this one. */
  scope: string;
  run_id: string;
  thread_id: string;
  call_id: string;
  agent_id: string;
  signal: AbortSignal;
  /** For whoever works for the call elsewhere: whose trace that belongs to (W3C Trace Context). */
  trace?: TraceContext;
  /** milliseconds since the epoch */
  now(): number;
  progress(update: ToolProgress): void;
  /** A piece of the tool's output while it runs. */
  stream(delta: string): void;
  /** Progress of a call that works for this one, as its own run reported it: shown beneath this call. */
  relay(message_id: string, progress: Record<string, Json>): void;
  /** The decision on the ticket that this call waited for, when it was suspended before. */
  decision?: Resume;
  /** The id of that ticket. */
  ticket_id?: string;
  /** Of that ticket. */
  resume_with?: Json;
  /**
   * Makes durable by what the work of the call goes on elsewhere, so that nothing is begun a second time: a call that
   * was cut off with its process is executed again with it, and `giveUp` is told of it where that cannot be.
   */
  keep(kept: Json): Promise<void>;
  /** What was kept, when an earlier process has begun the call. */
  kept?: Json;
  /** Once `signal` has fired: the call was let go, for another process to go on with what was kept. */
  isLetGo(): boolean;
  /** Asks the model of the agent, beside the conversation. @throws what the model throws */
  askModel(question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer>;
  state: StateView;
  /**
   * Work that goes on when the call is over; the run waits for it before it ends. Only where the agent lists the
   * plugin `background_tasks`: a tool that finds none does its work in the call.
   */
  tasks?: Tasks;
  /** Addresses of other agents. */
  mail?: Mail;
};

/** What a call returns: `data` for clients and, as JSON, for the model; `message` is what the model reads instead. */
export type ToolOutput = {
  data: Json;
  message?: string;
  /**
   * What the model reads instead of both: texts and files, as in messages of users. A model that does not accept a file
   * reads its description. At most 64 blocks; files have at most 8 MiB each and 16 MiB together.
   *
   * @example
   * return {
   *   data: { url },
   *   content: [
   *     { type: 'text', text: `The page ${url}:` },
   *     { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
   *   ],
   * };
   */
  content?: readonly InputBlock[];
  metadata?: Record<string, Json>;
  /** Applied with the result. */
  state?: readonly StateUpdate[];
  /** Files, addresses and data that become a part of the answer that the model gives next. */
  parts?: readonly AnswerPart[];
  /** Scheduled for the next inference; as those of a hook. */
  actions?: readonly { key: string; payload: unknown }[];
};

/** Instead of an output: the call waits for a decision on this ticket. */
export type Suspension = { suspend: Ticket };

/** What a gate says of a call before it is executed (agent-loop.md 7.1). */
export type GateDecision =
  | { kind: 'proceed' }
  | { kind: 'block'; reason: string }
  | { kind: 'suspend'; ticket: Ticket }
  | { kind: 'set_result'; output: ToolOutput };

/**
 * `decision` is there when the call was suspended before and goes through its gates again; `resume_mode` is that
 * of the ticket it is on. `arguments` are those that the call is executed with: a decision may have edited them.
 */
export type GatedCall = {
  id: string;
  name: string;
  arguments: Json;
  decision?: Resume;
  resume_mode?: ResumeMode;
  /** As of its tool. */
  changed_at?: number;
  /** A person has approved it, with the arguments that it has here. */
  approved?: boolean;
};

export type Tool = {
  descriptor: ToolDescriptor;
  /** A call that was interrupted by a crash may run again. */
  idempotent: boolean;
  /** No other call of the same message may run beside it. */
  exclusive: boolean;
  /** The caller need not check arguments against `descriptor.parameters`. */
  checksOwnArguments: boolean;
  /** What it would say of arguments that it does not take, for a tool that can tell without executing. */
  refuses?(args: Json): ToolError | undefined;
  /**
   * A decision on the ticket with which it suspended a call leads back into it, and never becomes the result
   * itself; so does a crash in between. It must know what it has done already.
   */
  resumesItself?: boolean;
  /** The agent that does its work. */
  delegatesTo?: string;
  /** milliseconds; since when its definition, which comes from another program, differs from the first one; 0 = never */
  changed_at?: number;
  /** A call will not go on: what its ticket, or the call itself, kept is told so. Must not throw. */
  giveUp?(resume_with: Json): void;
  /** Takes whatever JSON the model produced; throws `ToolError`. */
  execute(args: Json, context: ToolContext): Promise<ToolOutput | Suspension>;
  /** Asked before each call. Must not have effects: it may be asked again for the same call. */
  gate?(call: GatedCall): GateDecision | Promise<GateDecision>;
};

const PREFIX = {
  invalid_arguments: 'Invalid arguments: ',
  execution_failed: 'Execution failed: ',
  timeout: 'Timeout: ',
  cancelled: 'Cancelled: ',
  denied: 'Denied: ',
  not_found: 'Not found: ',
  internal: 'Internal error: ',
  unknown_tool: '',
} as const;

export type ToolErrorKind = keyof typeof PREFIX;

type FailedOutput = Pick<ToolOutput, 'data' | 'metadata'>;

/** Programs may have more than one copy of this package, and each copy a class of its own. */
const TOOL_ERROR = Symbol.for('troupe.ToolError');

/** A failure the model is told about; `message` carries no prefix. With a `code`, models can tell it apart. */
export class ToolError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && TOOL_ERROR in value;
  }

  get [TOOL_ERROR](): true {
    return true;
  }

  readonly kind: ToolErrorKind;
  readonly code: string | undefined;
  /** What clients get beside the message, which then carries no prefix. */
  readonly output: FailedOutput | undefined;

  constructor(
    kind: ToolErrorKind,
    message: string,
    options: { cause?: unknown; code?: string; output?: FailedOutput } = {},
  ) {
    // A tool quotes what other services say, which may repeat a key.
    super(maskForeign(message), { cause: options.cause });
    this.name = 'ToolError';
    this.kind = kind;
    this.code = options.code;
    this.output = options.output;
  }

  /** The model called something that is not in its catalogue. */
  static unknownTool(id: string): ToolError {
    return new ToolError('unknown_tool', `tool '${id}' not found`);
  }
}

/** The result of a call as it goes over the wire and into history (agent-loop.md 6.2). */
export const toToolResult = (name: string, outcome: ToolOutput | Error): ToolResult =>
  outcome instanceof Error ? failed(name, outcome) : succeeded(name, outcome);

const succeeded = (name: string, { data, message, metadata }: ToolOutput): ToolResult => ({
  tool_name: name,
  status: 'success',
  data,
  message: message ?? null,
  ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
});

const NO_DETAILS = { code: undefined, output: undefined };

const failed = (name: string, error: Error): ToolResult => {
  const kind = kindOf(error);
  const { code, output } = error instanceof ToolError ? error : NO_DETAILS;
  const message = maskForeign(error.message);
  if (output) {
    // An output is JSON, and stays so.
    const masked = maskKnown(output) as FailedOutput;
    return { ...succeeded(name, masked), status: 'error', message };
  }
  return {
    tool_name: name,
    status: 'error',
    data: code === undefined ? null : { error: { code, message } },
    message: code === undefined ? `${PREFIX[kind]}${message}` : `[${code}] ${message}`,
    ...(kind === 'timeout' && { metadata: { timed_out: true } }),
  };
};

/** Platform functions answer a fired signal with an `AbortError`; that is a cancel, not a bug. */
const kindOf = (error: Error): ToolErrorKind => {
  if (error instanceof ToolError) return error.kind;
  return error.name === 'AbortError' ? 'cancelled' : 'internal';
};
