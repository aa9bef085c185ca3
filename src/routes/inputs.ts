import { z } from 'zod';
import { examples, TRACE_HEADERS } from '../http/described.ts';
import { listReply } from '../http/list-reply.ts';
import { reply, route } from '../http/route.ts';
import { checkAgent } from '../identity/access/agents.ts';
import { ownPartition } from '../identity/access/own.ts';
import type { Accepted, SubmitMode } from '../runtime/index.ts';
import { actorOf } from '../schema/actor.ts';
import { withAliases } from '../schema/aliases.ts';
import { Dispatch } from '../schema/dispatch.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { checkNewId } from '../schema/id.ts';
import { Json } from '../schema/json.ts';
import { NotFound } from '../schema/outcome.ts';
import { checkedOutputSchema, RequestedOutput } from '../schema/output.ts';
import { fillPage } from '../schema/page-rows.ts';
import { Limit, Offset } from '../schema/paging.ts';
import { traceContextOf } from '../schema/trace-context.ts';
import { createAddressing } from './addressing.ts';
import { checkClientRoles } from './client-rights.ts';
import { RunId, ThreadId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';
import { keptMessages, rolesOf, UserMessages } from './user-messages.ts';

/** Input without a stream: messages to a thread or a run, and the mailbox (runtime.md 4.2, 5.3, 10). */

const ThreadParams = z.object({ id: ThreadId });
const RunParams = z.object({ id: RunId });

const MODES = {
  queue: 'queue',
  live_then_queue: 'live_then_queue',
  steer: 'live_then_queue',
  interrupt_then_queue: 'interrupt_then_queue',
  resume_open_run: 'resume_open_run',
} as const satisfies Record<string, SubmitMode>;

const Mode = z
  .enum(['queue', 'live_then_queue', 'steer', 'interrupt_then_queue', 'resume_open_run'])
  .default('queue')
  .transform((mode) => MODES[mode])
  .meta({ description: 'delivery mode: after the queued input, into the executing run, or in its place' });

const HELLO = [{ role: 'user', content: 'And in winter?' }];

const ThreadInput = withAliases(
  { agentId: 'agent_id' },
  {
    agentId: z.string().nullish().meta({ description: 'default: the last agent of the thread' }),
    mode: Mode,
    messages: UserMessages.default([]),
    output_schema: RequestedOutput,
  },
)
  .transform(({ agentId, mode, messages, output_schema }) => ({
    mode,
    messages,
    output_schema,
    agent_id: agentId?.trim() || undefined,
  }))
  .meta({
    id: 'ThreadInput',
    description: 'Input to a thread.',
    ...examples({ messages: HELLO }, { mode: 'steer', messages: HELLO }),
  });

const RunInput = z
  .object({ mode: Mode, messages: UserMessages.default([]), output_schema: RequestedOutput })
  .meta({ id: 'RunInput', description: 'Input to a run.', ...examples({ messages: HELLO }) });

const Work = { accepted_run_id: z.string(), dispatch_id: z.string() };

const ThreadInputAccepted = z
  .object({ status: z.enum(['running', 'queued']), thread_id: z.string(), ...Work })
  .meta({ id: 'ThreadInputAccepted', description: 'The input is durable.' });

const RunInputAccepted = z
  .object({ status: z.literal('inputs_accepted'), run_id: z.string(), ...Work })
  .meta({ id: 'RunInputAccepted', description: 'The input is durable.' });

const Push = z
  .object({
    payload: Json.default(null).meta({ description: 'the agent reads its `text`, or its JSON' }),
    output_schema: RequestedOutput,
  })
  .meta({
    id: 'MailboxPush',
    description: 'Work for a thread.',
    ...examples({ payload: { text: 'The report is there.' } }),
  });

const Pushed = z
  .object({ dispatch_id: z.string(), run_id: z.string(), thread_id: z.string() })
  .meta({ id: 'MailboxPushed', description: 'The work is durable.' });

const DispatchList = z
  .object({ items: z.array(Dispatch) })
  .meta({ id: 'DispatchList', description: 'One page of dispatches.' });

export const inputRoutes = (deps: RouteDeps) => [
  sendMessage(deps),
  sendRunInput(deps),
  pushToMailbox(deps),
  listMailbox(deps),
];

const FROM_USER = { origin: 'user', adapter: 'internal' } as const;

const sendMessage = (deps: RouteDeps) => {
  const { store, access, runtime } = deps;
  const { agentFor } = createAddressing(deps);
  return route.post('/v1/threads/:id/messages', {
    id: 'sendMessage',
    summary: 'Submit input to a thread',
    description:
      'Responds when the input is durable. The run that consumes it has no stream; its events are in the log of the thread.',
    headers: TRACE_HEADERS,
    tag: 'messages',
    needs: 'invoke',
    params: ThreadParams,
    body: ThreadInput,
    bodyLimit: 'attachments',
    responses: { 202: ThreadInputAccepted, 404: ErrorBody },
    idempotent: true,
    async handle({ params: { id }, body, header, principal, keyed }) {
      const place = access.thread(principal, id, 'write');
      if (!store.threads.get(place.scope, place.id)) throw new NotFound(`thread not found: ${id}`);
      const messages = keptMessages(body.messages);
      const agent = await agentFor(principal, place, body.agent_id);
      checkClientRoles(agent, rolesOf(body.messages), principal);
      const named = body.agent_id !== undefined;
      const context = traceContextOf(header);
      const output_schema = checkedOutputSchema(body.output_schema);
      const by = actorOf(principal);
      const respond = ({ status, run_id, dispatch_id }: Accepted) =>
        reply(202, { status, thread_id: id, accepted_run_id: run_id, dispatch_id });
      const submission = {
        mode: body.mode,
        agent,
        named,
        messages,
        output_schema,
        context,
        by,
        keyed: keyed?.answers(respond),
        ...FROM_USER,
      };
      return respond(await runtime.submit(place.scope, place.id, submission));
    },
  });
};

const sendRunInput = ({ store, access, runtime, resolve }: RouteDeps) =>
  route.post('/v1/runs/:id/inputs', {
    id: 'sendRunInput',
    summary: 'Submit input to a run, or to its thread if the run cannot accept it',
    description: 'Responds when the input is durable.',
    headers: TRACE_HEADERS,
    tag: 'runs',
    needs: 'invoke',
    params: RunParams,
    body: RunInput,
    bodyLimit: 'attachments',
    responses: { 202: RunInputAccepted, 404: ErrorBody },
    idempotent: true,
    async handle({ params: { id }, body, header, principal, keyed }) {
      const messages = keptMessages(body.messages);
      const { scope, id: run_id } = access.run(principal, id, 'write');
      const run = store.runs.get(scope, run_id);
      // The record of a run outlives its thread, and must not recreate it.
      if (!run || !store.threads.get(scope, run.thread_id)) throw new NotFound(`run not found: ${id}`);
      // A waiting run continues with its original resolution, even if its agent was deleted.
      const agent = resolve(run.agent_id, run.status === 'waiting' ? run.resolution_id : undefined);
      if (scope !== ownPartition(principal)) checkAgent(principal, agent);
      checkClientRoles(agent, rolesOf(body.messages), principal);
      const context = traceContextOf(header);
      const output_schema = checkedOutputSchema(body.output_schema);
      const common = { mode: body.mode, agent, messages, output_schema, context, ...FROM_USER };
      const respond = ({ run_id: accepted_run_id, dispatch_id }: Accepted) =>
        reply(202, { status: 'inputs_accepted', run_id: id, accepted_run_id, dispatch_id });
      const submission = {
        ...common,
        named: true,
        into: run_id,
        by: actorOf(principal),
        keyed: keyed?.answers(respond),
      };
      return respond(await runtime.submit(scope, run.thread_id, submission));
    },
  });

const pushToMailbox = (deps: RouteDeps) => {
  const { access, runtime } = deps;
  const { agentFor } = createAddressing(deps);
  return route.post('/v1/threads/:id/mailbox', {
    id: 'pushToMailbox',
    summary: 'Push a dispatch to a thread; creates the thread if it does not exist',
    description:
      'The agent is the last agent of the thread, or the default agent. A payload without `text` is passed as JSON.',
    headers: TRACE_HEADERS,
    tag: 'mailbox',
    needs: 'invoke',
    params: ThreadParams,
    body: Push,
    responses: { 201: Pushed },
    idempotent: true,
    async handle({ principal, params, body, header, keyed }) {
      const id = checkNewId('thread', 'thread_id', params.id);
      const place = access.thread(principal, id, 'write');
      const agent = await agentFor(principal, place);
      const messages = keptMessages([{ role: 'user', content: textOf(body.payload) }]);
      const context = traceContextOf(header);
      const output_schema = checkedOutputSchema(body.output_schema);
      const common = { mode: 'queue', agent, messages, output_schema, context, ...FROM_USER } as const;
      const respond = ({ run_id, dispatch_id }: Accepted) =>
        reply(201, { dispatch_id, run_id, thread_id: id });
      const submission = {
        ...common,
        named: false,
        by: actorOf(principal),
        keyed: keyed?.answers(respond),
      };
      return respond(await runtime.submit(place.scope, place.id, submission));
    },
  });
};

const listMailbox = ({ store, access }: RouteDeps) =>
  route.get('/v1/threads/:id/mailbox', {
    id: 'listMailbox',
    summary: 'Dispatches of a thread, in claim order',
    description:
      'Queued, executing and ended dispatches, without claim tokens. A page of long results may have fewer items than `limit`; the next page starts at `offset` plus the number of items.',
    tag: 'mailbox',
    needs: 'read',
    params: ThreadParams,
    query: z.object({ offset: Offset, limit: Limit }),
    responses: { 200: DispatchList },
    handle({ principal, params, query }) {
      const { scope, id } = access.thread(principal, params.id, 'read');
      const found = store.dispatches.listByThread(scope, id, query);
      // The token is a capability: a client could use it to write for the run.
      const page = fillPage(found, query.limit, (dispatch) => ({ ...dispatch, claim_token: null }));
      return listReply('items', page.texts);
    },
  });

type Payload = z.output<typeof Push>['payload'];

/** Returns the text of a pushed payload: its `text`, else its JSON (runtime.md 10.1). */
const textOf = (payload: Payload): string => {
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  const text = isObject ? payload.text : undefined;
  return typeof text === 'string' && text !== '' ? text : JSON.stringify(payload);
};
