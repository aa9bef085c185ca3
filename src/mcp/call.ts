import { type Clock, monotonic } from '../schema/clock.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import { type Json, type ToolContext, ToolError, type ToolOutput } from '../tools/tool.ts';
import { BOUNDS } from './bounds.ts';
import { ATTRIBUTION, askerOf, type Connection, masked, tell } from './connection.ts';
import { connectionClosed, isUnhealthy, McpFailure, protocolFailure, wordsOf } from './failure.ts';
import { askLink, isModern, type Link } from './link.ts';
import type { ToolDefinition } from './listing.ts';
import { paramHeaders } from './param-headers.ts';
import { createProgress } from './progress.ts';
import { CallResult, outputOf } from './result.ts';
import type { AskModel } from './sampling.ts';
import { readUi } from './ui.ts';

/**
 * A call of a tool that a server has (mcp.md B8). It never waits for a connection: where there is none it fails, in
 * words with which the model can try again.
 */
export type CallOutcome = 'ok' | 'tool_error' | McpFailure['kind'];

export type CallObserver = (server: string, outcome: CallOutcome, seconds: number) => void;

/** @throws ToolError */
export const callTool = async (
  connection: Connection,
  tool: ToolDefinition,
  args: Json,
  context: ToolContext,
  { clock, called }: { clock: Clock; called: CallObserver },
): Promise<ToolOutput> => {
  const { spec } = connection;
  const startedAt = monotonic(clock);
  const told = (outcome: CallOutcome): void =>
    called(spec.id, outcome, (monotonic(clock) - startedAt) / 1000);
  try {
    const result = await underWay(connection, context, (link) =>
      invoke(connection, link, { tool, args, context }),
    );
    const output = outputOf(result.answer, { 'mcp.server': spec.id, 'mcp.tool': tool.name, ...result.ui });
    told('ok');
    return output;
  } catch (error) {
    if (error instanceof ToolError) {
      told('tool_error');
      throw error;
    }
    const failure = error instanceof McpFailure ? error : protocolFailure(wordsOf(error));
    told(failure.kind);
    throw toolErrorOf(connection, failure);
  }
};

/** The way to a server that can be asked now. @throws McpFailure */
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
  const asker = askerOf(attributed(context));
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

/** A server spends the tokens of somebody else, and is not asked to be modest. */
const sparing = (askModel: AskModel): AskModel => {
  let asked = 0;
  return (question, signal) => {
    asked += 1;
    if (asked <= BOUNDS.samplings) return askModel(question, signal);
    return Promise.reject(new Error(`it was asked ${BOUNDS.samplings} times for this call`));
  };
};

/** Whose trace it belongs to has names of its own in `_meta`, whatever the transport is. */
const attributed = ({ agent_id, thread_id, run_id, call_id, trace }: ToolContext): { _meta: JsonObject } => ({
  _meta: { [ATTRIBUTION]: { agent_id, thread_id, run_id, call_id }, ...trace },
});

type Call = { tool: ToolDefinition; args: Json; context: ToolContext };

const invoke = async (connection: Connection, link: Link, { tool, args, context }: Call) => {
  const cancelled = new AbortController();
  // What is said of it to the server.
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

/** How it went is told to the actor, as far as it says something of the connection. */
export const noted = async <Result>(connection: Connection, ask: () => Promise<Result>): Promise<Result> => {
  try {
    const result = await ask();
    tell(connection, { type: 'CALL_SUCCEEDED' });
    return result;
  } catch (error) {
    // The definition that the call was made by is not the server's any more.
    if (error instanceof McpFailure && error.code === HEADER_MISMATCH)
      tell(connection, { type: 'TOOLS_CHANGED' });
    if (error instanceof McpFailure && isUnhealthy(error)) {
      tell(connection, { type: 'CALL_FAILED', error: masked(connection, error.message) });
    }
    throw error;
  }
};

const HEADER_MISMATCH = -32_020;

const toolErrorOf = (connection: Connection, failure: McpFailure): ToolError => {
  const text = masked(connection, failure.message);
  if (failure.kind === 'timeout') return new ToolError('timeout', text, { cause: failure });
  if (failure.kind === 'cancelled') return new ToolError('cancelled', text, { cause: failure });
  return new ToolError('execution_failed', text, { cause: failure });
};
