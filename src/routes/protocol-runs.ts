import { z } from 'zod';
import { type DescribedAnswer, TRACE_HEADERS } from '../http/described.ts';
import { type Route, route } from '../http/route.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import type { Attach, DecisionInput, Rewind, Runtime, ThreadView, UserMessage } from '../runtime/index.ts';
import { ErrorBody } from '../schema/error-body.ts';
import type { RunAdapter } from '../schema/run.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { type TraceContext, traceContextOf } from '../schema/trace-context.ts';
import { AgentId, ThreadId } from './parameters.ts';

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
  /** What the request asks of the thread; undefined: nothing, any more. @throws Invalid */
  read(thread: ThreadView): Asked | undefined;
};

export type Asked = {
  /** None, and no decisions either: the thread runs again on the history that it has. */
  messages: readonly UserMessage[];
  decisions: readonly DecisionInput[];
  /** Where the thread goes back to first. */
  rewind?: Rewind;
  /** Tools that the client executes, for this request. */
  frontend_tools?: readonly ToolDescriptor[];
  attach: Attach;
};

/** Resolves once what it asks is durable, with false when it asks nothing. @throws Invalid, Conflict, Unavailable */
export const submitRequest = async (
  { admit }: Pick<Runtime, 'admit'>,
  { scope, thread_id, agent, named, adapter, context, read }: ProtocolRequest,
): Promise<boolean> => {
  const accepted = await admit(scope, thread_id, (thread) => {
    const asked = read(thread);
    if (!asked) return undefined;
    const decides = asked.decisions.length > 0;
    return {
      ...asked,
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
  run: (scope: string, body: Body, context: TraceContext | undefined) => Promise<unknown>,
): Route[] => [
  route.post(root, {
    ...start,
    id: `start${name}Run`,
    summary: 'Start a run with what is new in a conversation, or answer one that waits',
    handle: ({ scope, body, header }) => run(scope, body, traceContextOf(header)),
  }),
  route.post(`${under}/threads/:thread_id/runs`, {
    ...start,
    id: `start${name}RunOnThread`,
    summary: 'Start a run on a thread with what is new in a conversation, or answer one that waits',
    params: z.object({ thread_id: ThreadId }),
    handle: ({ scope, params, body, header }) =>
      run(scope, { ...body, thread_id: params.thread_id }, traceContextOf(header)),
  }),
  route.post(`${under}/agents/:agent_id/runs`, {
    ...start,
    id: `start${name}RunWithAgent`,
    summary: 'Start a run of an agent with what is new in a conversation, or answer one that waits',
    params: z.object({ agent_id: AgentId }),
    handle: ({ scope, params, body, header }) =>
      run(scope, { ...body, agent_id: params.agent_id }, traceContextOf(header)),
  }),
];
