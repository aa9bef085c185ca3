import { type Clock, monotonic } from '../schema/clock.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import { type Json, type ToolContext, ToolError, type ToolOutput } from '../tools/tool.ts';
import { Unauthorized } from './authorized.ts';
import { BOUNDS } from './bounds.ts';
import { ATTRIBUTION, type Connection, identifyCall, masked, sendEvent } from './connection.ts';
import { connectionClosed, isUnhealthy, McpFailure, protocolFailure, wordsOf } from './failure.ts';
import { askLink, isModern, type Link } from './link.ts';
import type { ToolDefinition } from './listing.ts';
import { paramHeaders } from './param-headers.ts';
import { createProgress } from './progress.ts';
import { CallResult, toToolOutput } from './result.ts';
import type { AskModel } from './sampling.ts';
import { readUi } from './ui.ts';

/**
 * Calls a tool of a server (mcp.md B8). A call never waits for a connection: without one, it fails with a message that
 * allows the model to try again.
 */
export type CallOutcome = 'ok' | 'tool_error' | McpFailure['kind'];

export type CallObserver = (server: string, outcome: CallOutcome, seconds: number) => void;

/** @throws ToolError, or Unauthorized without a usable token */
export const callTool = async (
  connection: Connection,
  tool: ToolDefinition,
  args: Json,
  context: ToolContext,
  { clock, called }: { clock: Clock; called: CallObserver },
): Promise<ToolOutput> => {
  const { spec } = connection;
  const startedAt = monotonic(clock);
  const observe = (outcome: CallOutcome): void =>
    called(spec.id, outcome, (monotonic(clock) - startedAt) / 1000);
  try {
    const result = await underWay(connection, context, (link) =>
      invoke(connection, link, { tool, args, context }),
    );
    const output = toToolOutput(result.answer, {
      'mcp.server': spec.id,
      'mcp.tool': tool.name,
      ...result.ui,
    });
    observe('ok');
    return output;
  } catch (error) {
    if (error instanceof ToolError) {
      observe('tool_error');
      throw error;
    }
    const failure = error instanceof McpFailure ? error : protocolFailure(wordsOf(error));
    observe(failure.kind);
    throw failure instanceof Unauthorized ? failure : toolErrorOf(connection, failure);
  }
};

/** Returns the link to a connected server. @throws McpFailure */
export const linkTo = (connection: Connection): Link => {
  const { spec, actor, link } = connection;
  const snapshot = actor.getSnapshot();
  if (snapshot.hasTag('permanently_failed')) throw unavailable(`server '${spec.id}' is permanently failed`);
  if (snapshot.hasTag('disabled')) throw unavailable(`server '${spec.id}' is disabled`);
  if (!snapshot.hasTag('connected') || !link) throw unavailable(connectionClosed().message);
  return link;
};

const unavailable = (reason: string): McpFailure => new McpFailure('unavailable', reason);

const underWay = async <Result>(
  connection: Connection,
  context: ToolContext,
  work: (link: Link) => Promise<Result>,
): Promise<Result> => {
  if (context.signal.aborted) throw new McpFailure('cancelled', 'the call was cancelled');
  const link = linkTo(connection);
  const asker = identifyCall(attributed(context));
  connection.calls += 1;
  connection.askers.set(asker, sparing(context.askModel));
  try {
    return await work(link);
  } finally {
    connection.askers.delete(asker);
    connection.calls -= 1;
    if (connection.calls === 0) for (const done of connection.idle) done();
  }
};

/** Limits the requests of a server to the model, because they consume the tokens of the agent. */
const sparing = (askModel: AskModel): AskModel => {
  let requests = 0;
  return (question, signal) => {
    requests += 1;
    if (requests <= BOUNDS.samplings) return askModel(question, signal);
    return Promise.reject(
      new Error(`the limit of ${BOUNDS.samplings} sampling requests per call is reached`),
    );
  };
};

/** Trace headers are set in `_meta` on every transport. */
const attributed = ({ agent_id, thread_id, run_id, call_id, trace }: ToolContext): { _meta: JsonObject } => ({
  _meta: { [ATTRIBUTION]: { agent_id, thread_id, run_id, call_id }, ...trace },
});

type Call = { tool: ToolDefinition; args: Json; context: ToolContext };

const invoke = async (connection: Connection, link: Link, { tool, args, context }: Call) => {
  const cancelled = new AbortController();
  // The reason that is sent to the server.
  const cancel = (): void => cancelled.abort('client run cancelled');
  context.signal.addEventListener('abort', cancel, { once: true });
  try {
    const answer = await noted(connection, () =>
      askLink(link, {
        method: 'tools/call',
        params: { name: tool.name, arguments: args, ...attributed(context) },
        result: CallResult,
        timeoutMs: connection.target.timeoutMs,
        signal: cancelled.signal,
        headers: isModern(link) ? paramHeaders(tool.inputSchema, args) : undefined,
        progress: createProgress(context.progress),
      }),
    );
    return { answer, ui: await readUi(link, tool, cancelled.signal) };
  } finally {
    context.signal.removeEventListener('abort', cancel);
  }
};

/** Reports the outcome of a request to the actor if it reveals the health of the connection. */
export const noted = async <Result>(connection: Connection, ask: () => Promise<Result>): Promise<Result> => {
  try {
    const result = await ask();
    sendEvent(connection, { type: 'CALL_SUCCEEDED' });
    return result;
  } catch (error) {
    // The server has changed the definition of the called tool.
    if (error instanceof McpFailure && error.code === HEADER_MISMATCH)
      sendEvent(connection, { type: 'TOOLS_CHANGED' });
    if (error instanceof McpFailure && isUnhealthy(error)) {
      sendEvent(connection, { type: 'CALL_FAILED', error: masked(connection, error.message) });
    }
    throw error;
  }
};

const HEADER_MISMATCH = -32_020;

export const toolErrorOf = (
  connection: Pick<Connection, 'secrets' | 'tokens'>,
  failure: McpFailure,
): ToolError => {
  const text = masked(connection, failure.message);
  if (failure.kind === 'timeout') return new ToolError('timeout', text, { cause: failure });
  if (failure.kind === 'cancelled') return new ToolError('cancelled', text, { cause: failure });
  return new ToolError('execution_failed', text, { cause: failure });
};
