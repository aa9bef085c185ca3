import { type Clock, monotonic } from '../schema/clock.ts';
import type { CallPermission, ToolTrial } from '../schema/tool-trial.ts';
import { type CheckedOutput, checkedOutput } from './checked-output.ts';
import type { StateView } from './state.ts';
import {
  type GateDecision,
  type GatedCall,
  type Json,
  type Suspension,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolOutput,
  toToolResult,
} from './tool.ts';
import { checkedArguments } from './validate.ts';

/**
 * Calls one tool outside of a run, for an operator who tries it.
 *
 * Guarantees: the arguments are checked like those of a model. The call, with the decision of the tool's gate, ends at
 * its timeout or when the caller leaves, even if the tool ignores its signal. It has no conversation, no state and no model; a suspended call is abandoned.
 * The tool's own gate is asked, but an approval that it requires counts as given, since the operator calls it.
 */

type Call = { tool: Tool; args: Json; timeoutMs: number; signal: AbortSignal };

type Caller = { scope: string; agent_id: string; call_id: string; clock: Clock };

type Outcome = Omit<ToolTrial, 'permission' | 'duration_ms' | 'output'>;

/** Bytes of JSON. */
const MOST_RESULT = 2 * 1024 * 1024;

/** Characters of streamed text. */
const MOST_STREAMED = 64 * 1024;

/** @throws ToolError for invalid arguments */
export const trialArguments = (tool: Tool, args: Json, report: (problem: string) => void): Promise<Json> =>
  checkedArguments(tool, args, report).then((checked) => {
    const refusal = tool.refuses?.(checked);
    if (refusal) throw refusal;
    return checked;
  });

export const tryTool = async (
  { tool, args, timeoutMs, signal }: Call,
  { clock, ...caller }: Caller,
): Promise<Omit<ToolTrial, 'permission'> & { gate: CallPermission | null }> => {
  const { id } = tool.descriptor;
  const call: GatedCall = { id: caller.call_id, name: id, arguments: args };
  const startedAt = monotonic(clock);
  const streamed: string[] = [];
  let gate: GateDecision = PROCEED;
  const outcome = await outcomeOf(() =>
    withinTime({ timeoutMs, signal }, async (ending) => {
      gate = (await tool.gate?.(call)) ?? PROCEED;
      // A gate may respond after the call has ended.
      ending.throwIfAborted();
      if (gate.kind === 'block') throw new ToolError('denied', gate.reason);
      if (gate.kind === 'set_result') return gate.output;
      return tool.execute(args, contextOf({ ...caller, signal: ending, now: clock.now }, streamed));
    }),
  );
  if ('suspend' in outcome && outcome.suspend.resume_with !== undefined) {
    tool.giveUp?.(outcome.suspend.resume_with);
  }
  const output = streamed.join('').slice(0, MOST_STREAMED);
  return {
    ...trialOf(id, outcome),
    ...(output !== '' && { output }),
    duration_ms: Math.round(monotonic(clock) - startedAt),
    gate: PERMISSIONS[gate.kind],
  };
};

const PROCEED: GateDecision = { kind: 'proceed' };

const byTool = (behavior: CallPermission['behavior']): CallPermission => ({
  behavior,
  decided_by: 'tool',
  rule: null,
});

const PERMISSIONS: Readonly<Record<GateDecision['kind'], CallPermission | null>> = {
  proceed: null,
  set_result: null,
  suspend: byTool('ask'),
  block: byTool('deny'),
};

const outcomeOf = async (
  execute: () => Promise<ToolOutput | Suspension>,
): Promise<CheckedOutput | Suspension | Error> => {
  try {
    const returned = await execute();
    return 'suspend' in returned ? returned : checkedOutput(returned);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};

/** @throws ToolError when the time is over, or the signal fires */
const withinTime = async <Result>(
  { timeoutMs, signal }: Pick<Call, 'timeoutMs' | 'signal'>,
  work: (ending: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const ending = new AbortController();
  const over = new Promise<never>((_, reject) => {
    ending.signal.addEventListener('abort', () => reject(ending.signal.reason), { once: true });
  });
  const cancel = (): void => ending.abort(new ToolError('cancelled', 'the caller has left'));
  const timer = setTimeout(
    () => ending.abort(new ToolError('timeout', `the tool did not end within ${timeoutMs} ms`)),
    timeoutMs,
  );
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return await Promise.race([over, work(ending.signal)]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
};

const NO_STATE: StateView = { get: () => undefined };

const contextOf = (
  { call_id, ...given }: Omit<Caller, 'clock'> & Pick<ToolContext, 'signal' | 'now'>,
  streamed: string[],
): ToolContext => {
  let length = 0;
  return {
    ...given,
    call_id,
    run_id: call_id,
    thread_id: call_id,
    progress: () => {},
    stream(delta) {
      if (length < MOST_STREAMED) streamed.push(delta);
      length += delta.length;
    },
    relay: () => {},
    keep: async () => {},
    isLetGo: () => false,
    askModel: () => Promise.reject(new ToolError('execution_failed', 'a tool without a run has no model')),
    state: NO_STATE,
  };
};

const trialOf = (id: string, outcome: CheckedOutput | Suspension | Error): Outcome => {
  if ('suspend' in outcome) {
    const { suspension } = outcome.suspend;
    return { status: 'suspended', data: null, message: suspension.message ?? null, state: [] };
  }
  if (outcome instanceof Error) return failed(id, outcome);
  const { output, content, parts } = outcome;
  const { data, message, metadata } = toToolResult(id, output);
  const state = (output.state ?? []).map(({ key: { key, scope, hidden }, value = null }) => ({
    ...{ key, scope, hidden },
    // Updates are created by `update`, with a value of the key's own schema, which is JSON.
    value: value as Json,
  }));
  const trial: Outcome = {
    status: 'success',
    ...{ data, message, state },
    ...(content && { content }),
    ...(parts.length > 0 && { parts }),
    ...(metadata && { metadata }),
  };
  const bytes = Buffer.byteLength(JSON.stringify(trial));
  if (bytes <= MOST_RESULT) return trial;
  const excess = `the result has ${bytes} bytes, and a trial returns at most ${MOST_RESULT}`;
  return failed(id, new ToolError('execution_failed', excess));
};

const failed = (id: string, error: Error): Outcome => {
  const { data, message, metadata } = toToolResult(id, error);
  return { status: 'error', data, message, state: [], ...(metadata && { metadata }) };
};
