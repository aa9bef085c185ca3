import { z } from 'zod';
import { type DescribedAnswer, TRACE_HEADERS } from '../http/described.ts';
import { type Route, type RouteRequest, route } from '../http/route.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import type { Attach, DecisionInput, Rewind, ThreadView, UserMessage } from '../runtime/index.ts';
import { ErrorBody } from '../schema/error-body.ts';
import type { JsonObject } from '../schema/json.ts';
import type { RunAdapter } from '../schema/run.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { type TraceContext, traceContextOf } from '../schema/trace-context.ts';
import { checkClientRoles, checkClientTools } from './client-rights.ts';
import { AgentId, ThreadId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/**
 * Requests of chat protocols, which bring new messages, decisions, or both (chat-and-agui.md 2.6, 3.5). They are read
 * against the thread in the turn in which they are submitted: a request that comes twice at once is new only once.
 */

export type ProtocolRequest = {
  scope: string;
  thread_id: string;
  agent: ResolvedAgent;
  /** The client named the agent. */
  named: boolean;
  adapter: RunAdapter;
  /** Whose trace a run belongs to that it makes. */
  context: TraceContext | undefined;
  isAdmin(): boolean;
  /** What the request asks of the thread; undefined: nothing, any more. @throws Invalid */
  read(thread: ThreadView): Asked | undefined;
};

export type Asked = {
  /** None, and no decisions either: the thread runs again on the history that it has. */
  messages: readonly UserMessage[];
  decisions: readonly DecisionInput[];
  /** Of the messages that are new to the thread, also of those that are not kept. */
  roles: readonly string[];
  /** Where the thread goes back to first. */
  rewind?: Rewind;
  /** Tools that the client executes, for this request. */
  frontend_tools?: readonly ToolDescriptor[];
  /** Schema of the structured result, or null for none; without, that of the agent. */
  output_schema?: JsonObject | null | undefined;
  attach: Attach;
};

/** Resolves once what it asks is durable, with false when it asks nothing. @throws Invalid, Conflict, Unavailable */
export const submitRequest = async (
  { runtime: { admit }, resolve }: Pick<Rooms, 'runtime' | 'resolve'>,
  { scope, thread_id, agent, named, adapter, context, isAdmin, read }: ProtocolRequest,
): Promise<boolean> => {
  const accepted = await admit(scope, thread_id, (thread) => {
    const asked = read(thread);
    if (!asked) return undefined;
    const { roles, ...input } = asked;
    const decides = input.decisions.length > 0;
    const taker = (decides && agentOfRun(resolve, thread)) || agent;
    checkClientTools(taker, input.frontend_tools);
    checkClientRoles(taker, roles, isAdmin);
    return {
      ...input,
      mode: 'foreground',
      agent,
      // A decision is for the run that waits, whoever the client talks to otherwise.
      named: named && !decides,
      ...(decides && thread.run_id !== undefined && { into: thread.run_id }),
      origin: 'user',
      adapter,
      context,
    };
  });
  return accepted !== undefined;
};

/** A decision goes to the run that waits, which may be of another agent than the one that the request names. */
function agentOfRun(resolve: Rooms['resolve'], thread: ThreadView): ResolvedAgent | undefined {
  const run = thread.run_id === undefined ? undefined : thread.run(thread.run_id);
  return run && resolve(run.agent_id, run.resolution_id);
}

/** Of a request: the scope, the rights, and the trace that its run belongs to. */
export type Client = Pick<ProtocolRequest, 'scope' | 'context' | 'isAdmin'>;

export function clientOf({
  scope,
  header,
  isAdmin,
}: Pick<RouteRequest<unknown, unknown, unknown>, 'scope' | 'header' | 'isAdmin'>): Client {
  return { scope, context: traceContextOf(header), isAdmin };
}

type Named = { thread_id?: string | undefined; agent_id?: string | undefined };

const STARTS =
  'Only what is new in the conversation is kept: the history is that of the thread. The run goes on when the client goes away.';

/** What the routes that start a run in a protocol have in common, or go on with one (chat-and-agui.md 2.2, 2.3). */
export const startsRun = <Body extends Named>(tag: string, body: z.ZodType<Body>, stream: DescribedAnswer) =>
  ({
    tag,
    scope: 'agent-invocation',
    body,
    bodyLimit: 'attachments',
    description: STARTS,
    headers: TRACE_HEADERS,
    responses: {
      200: stream,

      409: ErrorBody,
    },
  }) as const;

/** The addresses of a run: one where the body says everything, that of a thread, and that of an agent. */
export const runRoutes = <Body extends Named>(
  { root, under, name }: { root: string; under: string; name: string },
  start: ReturnType<typeof startsRun<Body>>,
  run: (from: Client, body: Body) => Promise<unknown>,
): Route[] => [
  route.post(root, {
    ...start,
    id: `start${name}Run`,
    summary: 'Start a run with what is new in a conversation, or answer one that waits',
    handle: ({ body, ...request }) => run(clientOf(request), body),
  }),
  route.post(`${under}/threads/:thread_id/runs`, {
    ...start,
    id: `start${name}RunOnThread`,
    summary: 'Start a run on a thread with what is new in a conversation, or answer one that waits',
    params: z.object({ thread_id: ThreadId }),
    handle: ({ params, body, ...request }) =>
      run(clientOf(request), { ...body, thread_id: params.thread_id }),
  }),
  route.post(`${under}/agents/:agent_id/runs`, {
    ...start,
    id: `start${name}RunWithAgent`,
    summary: 'Start a run of an agent with what is new in a conversation, or answer one that waits',
    params: z.object({ agent_id: AgentId }),
    handle: ({ params, body, ...request }) => run(clientOf(request), { ...body, agent_id: params.agent_id }),
  }),
];
