import type { z } from 'zod';
import type { Resume } from '../schema/activation.ts';
import type { Actor } from '../schema/actor.ts';
import type { AnswerPart } from '../schema/answer-part.ts';
import type { InputBlock } from '../schema/message.ts';
import { maskForeign, maskKnown } from '../schema/redaction/foreign.ts';
import type { ResumeMode } from '../schema/run.ts';
import type { Ticket, ToolResult } from '../schema/run-event.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { TraceContext } from '../schema/trace-context.ts';
import type { ModelAnswer, ModelQuestion } from './ask-model.ts';
import type { StateUpdate, StateView } from './state.ts';
import type { Mail, Tasks } from './tasks.ts';
import type { ToolFiles } from './tool-files.ts';

/**
 * The tool interface within the process, and the conversion of outcomes for the model (agent-loop.md 6).
 *
 * Guarantees: `execute` of a tool made by `defineTool` receives only arguments that its schema accepts; everything that
 * it returns or throws becomes a `ToolResult` through one table of prefixes, so a failing tool never ends a run.
 * Relies on: the descriptor and the validation come from the same zod schema and cannot drift apart.
 * Costs: one zod parse per call.
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

/**
 * Everything that a tool may use in addition to its arguments. `signal` fires when the run is cancelled.
 *
 * @example
 * ```ts
 * const fetchPage = defineTool({
 *   id: 'fetch_page',
 *   description: 'Reads a web page.',
 *   input: z.object({ url: z.url() }),
 *   execute: async ({ url }, { signal, progress }: ToolContext) => {
 *     progress({ status: 'running', message: url });
 *     return await (await fetch(url, { signal })).text();
 *   },
 * });
 * ```
 */
export type ToolContext = {
  /** Partition of the threads and runs: the scope, or the part of it that belongs to the owner of the thread. */
  scope: string;
  run_id: string;
  thread_id: string;
  call_id: string;
  agent_id: string;
  /** The user that the run acts for, with the credential that gave its input; absent for a run without a user. */
  acts_for?: Actor & { user: string };
  signal: AbortSignal;
  /** Trace to continue when the call works elsewhere (W3C Trace Context). */
  trace?: TraceContext;
  /** milliseconds since the epoch */
  now(): number;
  /** Reports progress to clients (runtime.md 6.5). */
  progress(update: ToolProgress): void;
  /** Emits a chunk of output while the tool runs. */
  stream(delta: string): void;
  /** Relays progress of a call in a child run, shown beneath this call. */
  relay(message_id: string, progress: Record<string, Json>): void;
  /** The decision on the ticket that this call was suspended with. */
  decision?: Resume;
  /** The id of that ticket. */
  ticket_id?: string;
  /** The data that the tool stored with that ticket. */
  resume_with?: Json;
  /**
   * Persists the data with which the work of the call continues elsewhere, so that nothing is started twice: a call
   * interrupted with its process is executed again with it, and if that is impossible, `giveUp` receives it.
   */
  keep(kept: Json): Promise<void>;
  /** The persisted data of a call that an earlier process started. */
  kept?: Json;
  /**
   * After `signal` has fired: true if the call was released, so that another process can continue it with the kept
   * data.
   */
  isLetGo(): boolean;
  /** Sends a request to the model of the agent, outside the conversation. @throws errors of the model */
  askModel(question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer>;
  state: StateView;
  /**
   * Background work that continues after the call; the run waits for it before it ends. Present only if the agent lists
   * the plugin `background_tasks`; without it, a tool works within the call.
   */
  tasks?: Tasks;
  /** Addresses of other agents. */
  mail?: Mail;
  /** Files of the user that the run acts for; absent where the service has none, and in trials. */
  files?: ToolFiles;
};

/**
 * The return value of a call: `data` for clients and, as JSON, for the model; `message` replaces it for the model.
 *
 * @example
 * ```ts
 * const output: ToolOutput = {
 *   data: { rows: 42 },
 *   message: 'The table has 42 rows.',
 *   parts: [{ url: 'https://example.com/table.csv' }],
 * };
 * ```
 */
export type ToolOutput = {
  data: Json;
  message?: string;
  /**
   * Replaces both for the model: texts and files, as in user messages. A model that does not accept a file receives its
   * description. At most 64 blocks; files have at most 8 MiB each and 16 MiB together.
   *
   * @example
   * ```ts
   * const output = (url: string, png: Buffer): ToolOutput => ({
   *   data: { url },
   *   content: [
   *     { type: 'text', text: `The page ${url}:` },
   *     { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
   *   ],
   * });
   * ```
   */
  content?: readonly InputBlock[];
  /** Data for clients about the call itself. */
  metadata?: Record<string, Json>;
  /** Applied together with the result. */
  state?: readonly StateUpdate[];
  /** Files, URLs and data to add to the next completion of the model. */
  parts?: readonly AnswerPart[];
  /** Scheduled for the next inference, like those of a hook. */
  actions?: readonly { key: string; payload: unknown }[];
};

/**
 * Returned instead of an output: suspends the call until a decision on this ticket (agent-loop.md 7.2).
 *
 * @example
 * ```ts
 * const wait = (args: { amount: number }): Suspension => ({
 *   suspend: {
 *     suspension: { id: 'confirm_1', action: 'confirm', message: `Transfer ${args.amount}?` },
 *     pending: { id: 'confirm_1', name: 'confirm', arguments: args },
 *     resume_mode: 'use_decision_as_tool_result',
 *   },
 * });
 * ```
 */
export type Suspension = { suspend: Ticket };

/**
 * The decision of a gate on a call before its execution (agent-loop.md 7.1).
 *
 * @example
 * ```ts
 * const decide = ({ name }: GatedCall): GateDecision =>
 *   name === 'delete' ? { kind: 'block', reason: 'This service is read-only.' } : { kind: 'proceed' };
 * ```
 */
export type GateDecision =
  | { kind: 'proceed' }
  | { kind: 'block'; reason: string }
  | { kind: 'suspend'; ticket: Ticket }
  | { kind: 'set_result'; output: ToolOutput };

/**
 * A call that a gate decides. `decision` is set if the call was suspended before and passes its gates again;
 * `resume_mode` is that of its ticket. `arguments` are those that the call is executed with: a decision may have
 * edited them.
 *
 * @example
 * ```ts
 * const gate = (call: GatedCall): GateDecision =>
 *   call.approved || call.name !== 'transfer' ? { kind: 'proceed' } : { kind: 'block', reason: 'not approved' };
 * ```
 */
export type GatedCall = {
  id: string;
  name: string;
  arguments: Json;
  decision?: Resume;
  resume_mode?: ResumeMode;
  /** The value of its tool. */
  changed_at?: number;
  /** True if a person has approved the call with these arguments. */
  approved?: boolean;
  /** True if that person is another user than the one behind the run. */
  approved_by_others?: boolean;
};

/**
 * A tool for `createTroupe`. `defineTool` makes it. A tool with a JSON Schema written by hand sets
 * `checksOwnArguments` to false, and receives only arguments that match it.
 *
 * @example
 * ```ts
 * const echo: Tool = {
 *   descriptor: {
 *     id: 'echo',
 *     name: 'echo',
 *     description: 'Returns its text.',
 *     parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
 *     category: null,
 *   },
 *   idempotent: true,
 *   exclusive: false,
 *   checksOwnArguments: false,
 *   execute: async (args) => ({ data: args }),
 * };
 * ```
 */
export type Tool = {
  descriptor: ToolDescriptor;
  /** True if a call that a crash interrupted may be executed again. */
  idempotent: boolean;
  /** True if no other call of the same message may run concurrently. */
  exclusive: boolean;
  /** True if callers need not validate arguments against `descriptor.parameters`. */
  checksOwnArguments: boolean;
  /** Returns the error for invalid arguments, for tools that can validate without executing. */
  refuses?(args: Json): ToolError | undefined;
  /**
   * Decisions on a ticket that the tool suspended a call with are passed back into the tool instead of becoming the
   * result; the same happens after a crash. The tool must track which work it has already done.
   */
  resumesItself?: boolean;
  /** Id of the agent that does its work. */
  delegatesTo?: string;
  /** Why the tool works only within a run, for a tool that cannot be tried alone: `the client executes it`. */
  needsRun?: string;
  /** Milliseconds: when another program first offered its current definition; 0 for the first definition. */
  changed_at?: number;
  /** Receives the data kept with the ticket or the call when the call will not continue. Must not throw. */
  giveUp?(resume_with: Json): void;
  /** Accepts any JSON that the model produced; throws `ToolError`. */
  execute(args: Json, context: ToolContext): Promise<ToolOutput | Suspension>;
  /** Called before each call. Must not have effects: it may be called again for the same call. */
  gate?(call: GatedCall): GateDecision | Promise<GateDecision>;
};

/** The prefix of a message by kind of failure. */
export const TOOL_ERROR_PREFIXES = {
  invalid_arguments: 'Invalid arguments: ',
  execution_failed: 'Execution failed: ',
  timeout: 'Timeout: ',
  cancelled: 'Cancelled: ',
  denied: 'Denied: ',
  not_found: 'Not found: ',
  internal: 'Internal error: ',
  unknown_tool: '',
} as const;

export type ToolErrorKind = keyof typeof TOOL_ERROR_PREFIXES;

type FailedOutput = Pick<ToolOutput, 'data' | 'metadata'>;

/** Programs may contain several copies of this package, each with a separate class. */
const TOOL_ERROR = Symbol.for('troupe.ToolError');

/**
 * A failure that the model receives as the result of the call (agent-loop.md 6.2). The kind becomes a prefix of the
 * message, such as `Execution failed: `; a `code` replaces it and lets models distinguish failures.
 *
 * @example
 * ```ts
 * const read = defineTool({
 *   id: 'read_invoice',
 *   description: 'Reads an invoice.',
 *   input: z.object({ number: z.string() }),
 *   execute: ({ number }) => {
 *     throw new ToolError('not_found', `there is no invoice ${number}`);
 *   },
 * });
 * ```
 */
export class ToolError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && TOOL_ERROR in value;
  }

  get [TOOL_ERROR](): true {
    return true;
  }

  readonly kind: ToolErrorKind;
  readonly code: string | undefined;
  /** Data for clients in addition to the message, which then gets no prefix. */
  readonly output: FailedOutput | undefined;

  constructor(
    kind: ToolErrorKind,
    message: string,
    options: { cause?: unknown; code?: string; output?: FailedOutput } = {},
  ) {
    // A tool may quote a response of another service that contains a secret key.
    super(maskForeign(message), { cause: options.cause });
    this.name = 'ToolError';
    this.kind = kind;
    this.code = options.code;
    this.output = options.output;
  }

  /** The model called a tool that is not in its catalog. */
  static unknownTool(id: string): ToolError {
    return new ToolError('unknown_tool', `tool '${id}' not found`);
  }
}

/** The result of a call in the format of the wire and the history (agent-loop.md 6.2). */
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
    // Masking returns JSON of the same shape.
    const masked = maskKnown(output) as FailedOutput;
    return { ...succeeded(name, masked), status: 'error', message };
  }
  return {
    tool_name: name,
    status: 'error',
    data: code === undefined ? null : { error: { code, message } },
    message: code === undefined ? `${TOOL_ERROR_PREFIXES[kind]}${message}` : `[${code}] ${message}`,
    ...(kind === 'timeout' && { metadata: { timed_out: true } }),
  };
};

/** Platform functions throw `AbortError` when a signal fires, which is a cancellation, not a bug. */
const kindOf = (error: Error): ToolErrorKind => {
  if (error instanceof ToolError) return error.kind;
  return error.name === 'AbortError' ? 'cancelled' : 'internal';
};
