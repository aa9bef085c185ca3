import { z } from 'zod';
import { examples } from '../http/described.ts';
import { reply, route } from '../http/route.ts';
import { withAliases } from '../schema/aliases.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Json } from '../schema/json.ts';
import { Invalid } from '../schema/outcome.ts';
import { choice } from './choice.ts';
import { RunId, ThreadId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** Cancel, interrupt and decide (runtime.md 11, 12). The id in a path may belong to a run, dispatch or thread. */

const PARAMS = { thread: z.object({ id: ThreadId }), run: z.object({ id: RunId }) } as const;

const Action = choice(
  ['resume', 'cancel'],
  (given) => new Invalid(`invalid action: ${given}, expected 'resume' or 'cancel'`),
);

const DecisionBody = withAliases(
  { toolCallId: 'tool_call_id' },
  {
    toolCallId: z.string().meta({
      description: 'id of the ticket; the id of its call is accepted while it is unambiguous',
    }),
    action: Action,
    payload: Json.default(null).meta({
      description:
        'for a permission `{"approved": true}` or `{"approved": false}`, optionally with `arguments` that replace those of the call, `remember` and `pattern`; for an exhausted budget `{"extra": {"usd": 5}}`, optionally with `run_only`, or none to check it again; otherwise the value for the tool or the model',
    }),
    digest: z.string().optional().meta({
      description: 'digest of the displayed or the edited call; 409 when the call differs',
    }),
    reason: z.string().optional().meta({ description: 'reason for the record' }),
    decided_by: z.string().optional().meta({ description: 'name of the person who decided, for the record' }),
  },
)
  .transform(({ toolCallId, action, payload, digest, reason, decided_by }) => ({
    tool_call_id: toolCallId,
    action,
    payload,
    ...(digest !== undefined && { digest }),
    ...(reason !== undefined && { reason }),
    ...(decided_by !== undefined && { decided_by }),
  }))
  .meta({
    id: 'Decision',
    description: 'Decision on a suspended tool call.',
    ...examples({ toolCallId: 'call-1', action: 'resume', payload: { approved: true } }),
  });

export const CancelAccepted = z
  .object({
    status: z.literal('cancel_requested'),
    thread_id: z.string().optional(),
    run_id: z.string().optional(),
  })
  .meta({ id: 'CancelAccepted', description: 'The cancellation is durable.' });

export const InterruptAccepted = z
  .object({
    status: z.literal('interrupt_requested'),
    thread_id: z.string(),
    superseded_dispatches: z.int(),
  })
  .meta({ id: 'InterruptAccepted', description: 'The queue is dropped.' });

const DecisionAccepted = z
  .object({
    status: z.literal('decision_submitted'),
    thread_id: z.string().optional(),
    run_id: z.string().optional(),
    tool_call_id: z.string(),
  })
  .meta({ id: 'DecisionAccepted', description: 'The decision is durable.' });

const KIND = { thread: 'Thread', run: 'Run' } as const;

export const controlRoutes = ({ access, runtime }: Pick<RouteDeps, 'access' | 'runtime'>) => [
  ...(['thread', 'run'] as const).flatMap((kind) => [
    route.post(`/v1/${kind}s/:id/cancel`, {
      id: `cancel${KIND[kind]}`,
      summary: kind === 'run' ? 'Cancel a run' : 'Cancel the active run of a thread',
      description:
        'Responds when the cancellation is durable; the stream of the run reports its end. The id of a dispatch is accepted too.',
      tag: `${kind}s`,
      needs: 'invoke',
      params: PARAMS[kind],
      responses: { 202: CancelAccepted, 404: ErrorBody },
      async handle({ principal, params: { id } }) {
        const place = access.work(principal, id, 'write');
        await runtime.cancel(place.scope, place.id, kind);
        return reply(202, { status: 'cancel_requested', [`${kind}_id`]: id });
      },
    }),
    route.post(`/v1/${kind}s/:id/decision`, {
      id: `decideOn${KIND[kind]}`,
      summary: 'Decide a suspended tool call',
      description:
        'Resumes or rejects the call. A call that waits for a permission is executed only if the payload has `"approved": true` or is missing. The id of a dispatch is accepted too.',
      tag: `${kind}s`,
      needs: ['decide', 'invoke', 'configure:budgets'],
      params: PARAMS[kind],
      body: DecisionBody,
      responses: { 202: DecisionAccepted, 404: ErrorBody, 409: ErrorBody },
      idempotent: true,
      async handle({ principal, params: { id }, body, route: path, ip, keyed }) {
        const { tool_call_id } = body;
        const place = access.work(principal, id, 'decide');
        const mayWrite = access.may(principal, place.thread, 'write');
        const respond = () => reply(202, { status: 'decision_submitted', [`${kind}_id`]: id, tool_call_id });
        await runtime.decide(place.scope, place.id, kind, {
          ...body,
          principal,
          mayWrite,
          from: { ip: ip(), route: path },
          keyed: keyed?.answers(respond),
        });
        return respond();
      },
    }),
  ]),
  route.post('/v1/threads/:id/interrupt', {
    id: 'interruptThread',
    summary: 'Stop the active run of a thread and drop its queue',
    description:
      'Queued dispatches are superseded; the response contains their number. The run ends soon after the response.',
    tag: 'threads',
    needs: 'invoke',
    params: PARAMS.thread,
    responses: { 202: InterruptAccepted, 404: ErrorBody },
    async handle({ principal, params: { id } }) {
      const place = access.thread(principal, id, 'write');
      const superseded_dispatches = await runtime.interrupt(place.scope, place.id);
      return reply(202, { status: 'interrupt_requested', thread_id: id, superseded_dispatches });
    },
  }),
];
