import { z } from 'zod';
import { type DescribedAnswer, TRACE_HEADERS } from '../http/described.ts';
import type { Keyed } from '../http/keyed.ts';
import { type Route, type RouteRequest, route } from '../http/route.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import type { Attach, DecisionInput, Rewind, ThreadView, UserMessage } from '../runtime/index.ts';
import type { RunAdapter } from '../schema/activation.ts';
import { actorOf } from '../schema/actor.ts';
import { ErrorBody } from '../schema/error-body.ts';
import type { JsonObject } from '../schema/json.ts';
import type { Place } from '../schema/place.ts';
import type { Principal } from '../schema/principal.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { type TraceContext, traceContextOf } from '../schema/trace-context.ts';
import { checkClientRoles, checkClientTools } from './client-rights.ts';
import { AgentId, ThreadId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';
import { keyedStream, type RunAgain } from './run-again.ts';

/**
 * Requests of chat protocols, which contain new messages, decisions, or both (chat-and-agui.md 2.6, 3.5). They are
 * validated against the thread in the same event-loop tick in which they are submitted, so a request that arrives twice
 * at once is new only once.
 */

export type ProtocolRequest = {
  thread: Place;
  agent: ResolvedAgent;
  /** Whether the client named the agent. */
  named: boolean;
  adapter: RunAdapter;
  /** Trace context for a new run. */
  context: TraceContext | undefined;
  principal: Principal;
  /** The key of the request. */
  keyed: Keyed | undefined;
  /** The origin of the request, for the access log. */
  from: NonNullable<DecisionInput['from']>;
  /** Returns the input for the thread, or undefined if the request contains nothing new. @throws Invalid */
  read(thread: ThreadView): ParsedInput | undefined;
};

export type ParsedInput = {
  /** If there are neither messages nor decisions, the thread runs again on its existing history. */
  messages: readonly UserMessage[];
  decisions: readonly DecisionInput[];
  /** Roles of the messages that are new to the thread, including those that are not stored. */
  roles: readonly string[];
  /** Target to which the thread is rewound first. */
  rewind?: Rewind;
  /** Tools that the client executes for this request. */
  frontend_tools?: readonly ToolDescriptor[];
  /** Schema of the structured result, or null for none; by default that of the agent. */
  output_schema?: JsonObject | null | undefined;
  attach: Attach;
};

/** Resolves once the input is durable; false if there is none. @throws Invalid, Conflict, Unavailable */
export const submitRequest = async (
  deps: Pick<RouteDeps, 'runtime' | 'access' | 'resolve' | 'clock'>,
  { thread: place, agent, named, adapter, context, principal, keyed, from, read }: ProtocolRequest,
): Promise<boolean> => {
  const { runtime, access, resolve } = deps;
  const mayWrite = access.may(principal, place, 'write');
  const accepted = await runtime.admit(place.scope, place.id, (thread) => {
    const request = read(thread);
    if (!request) return undefined;
    const { roles, ...input } = request;
    const decides = input.decisions.length > 0;
    if (decides) access.check(principal, place, 'decide');
    if (input.messages.length > 0 || !decides) access.check(principal, place, 'write');
    const taker = (decides && agentOfRun(resolve, thread)) || agent;
    checkClientTools(taker, input.frontend_tools);
    checkClientRoles(taker, roles, principal);
    return {
      ...input,
      decisions: input.decisions.map((decision) => ({ ...decision, principal, mayWrite, from })),
      by: actorOf(principal),
      mode: 'foreground',
      agent,
      // A decision is for the waiting run, even if the client otherwise addresses another agent.
      named: named && !decides,
      ...(decides && thread.run_id !== undefined && { into: thread.run_id }),
      origin: 'user',
      adapter,
      context,
      keyed: keyedStream(deps, keyed, place, named ? agent.spec.id : undefined),
    };
  });
  return accepted !== undefined;
};

/** Returns the agent of the waiting run, which may differ from the agent that the request names. */
function agentOfRun(resolve: RouteDeps['resolve'], thread: ThreadView): ResolvedAgent | undefined {
  const run = thread.run_id === undefined ? undefined : thread.run(thread.run_id);
  return run && resolve(run.agent_id, run.resolution_id);
}

/** The principal, the trace context and the origin of a request. */
export type Client = Pick<ProtocolRequest, 'context' | 'principal' | 'from' | 'keyed'>;

export function clientOf({
  header,
  principal,
  route,
  ip,
  keyed,
}: Pick<RouteRequest<unknown, unknown, unknown>, 'header' | 'principal' | 'route' | 'ip' | 'keyed'>): Client {
  return { context: traceContextOf(header), principal, from: { ip: ip(), route }, keyed };
}

type Named = { thread_id?: string | undefined; agent_id?: string | undefined };

const STARTS =
  'Only new messages of the conversation are stored: the history is that of the thread. The run continues if the client disconnects.';

/** The common specification of routes that start or continue a run in a protocol (chat-and-agui.md 2.2, 2.3). */
export const startsRun = <Body extends Named>(tag: string, body: z.ZodType<Body>, stream: DescribedAnswer) =>
  ({
    tag,
    needs: 'invoke',
    body,
    bodyLimit: 'attachments',
    description: STARTS,
    headers: TRACE_HEADERS,
    responses: {
      200: stream,

      409: ErrorBody,
    },
  }) as const;

const repeatable = (again: RunAgain) => ({ idempotent: true, again }) as const;

/** Declares the paths of a run: a general one whose body contains all ids, one by thread, and one by agent. */
export const runRoutes = <Body extends Named>(
  { root, under, name }: { root: string; under: string; name: string },
  start: ReturnType<typeof startsRun<Body>>,
  { run, again }: { run: (from: Client, body: Body) => Promise<unknown>; again: RunAgain },
): Route[] => [
  route.post(root, {
    ...start,
    ...repeatable(again),
    id: `start${name}Run`,
    summary: 'Start a run with the new messages of a conversation, or respond to a waiting run',
    handle: ({ body, ...request }) => run(clientOf(request), body),
  }),
  route.post(`${under}/threads/:thread_id/runs`, {
    ...start,
    ...repeatable(again),
    id: `start${name}RunOnThread`,
    summary: 'Start a run on a thread with the new messages of a conversation, or respond to a waiting run',
    params: z.object({ thread_id: ThreadId }),
    handle: ({ params, body, ...request }) =>
      run(clientOf(request), { ...body, thread_id: params.thread_id }),
  }),
  route.post(`${under}/agents/:agent_id/runs`, {
    ...start,
    ...repeatable(again),
    id: `start${name}RunWithAgent`,
    summary: 'Start a run of an agent with the new messages of a conversation, or respond to a waiting run',
    params: z.object({ agent_id: AgentId }),
    handle: ({ params, body, ...request }) => run(clientOf(request), { ...body, agent_id: params.agent_id }),
  }),
];
