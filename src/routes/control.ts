import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import type { DecisionInput } from '../runtime/index.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Invalid } from '../schema/outcome.ts';
import { notBoth } from '../schema/paging.ts';
import type { Rooms } from './rooms.ts';

/** Cancel, interrupt and decide (runtime.md 11, 12). The id in a path may be that of a run, dispatch or thread. */

const Params = z.object({ id: z.string() });

const DecisionBody = z
  .object({
    toolCallId: z.string().optional(),
    tool_call_id: z.string().optional(),
    action: z.string(),
    payload: z.json().default(null),
    reason: z.string().optional(),
    decided_by: z.string().optional(),
  })
  .check(notBoth('toolCallId', 'tool_call_id'))
  .refine((body) => body.toolCallId !== undefined || body.tool_call_id !== undefined, {
    path: ['toolCallId'],
    message: 'required',
  })
  .transform(({ toolCallId, tool_call_id, ...body }) => ({
    ...body,
    tool_call_id: toolCallId ?? tool_call_id ?? '',
  }));

export const CancelAccepted = z
  .object({
    status: z.literal('cancel_requested'),
    thread_id: z.string().optional(),
    run_id: z.string().optional(),
  })
  .meta({ id: 'CancelAccepted' });

export const InterruptAccepted = z
  .object({
    status: z.literal('interrupt_requested'),
    thread_id: z.string(),
    superseded_dispatches: z.int(),
  })
  .meta({ id: 'InterruptAccepted' });

const DecisionAccepted = z
  .object({
    status: z.literal('decision_submitted'),
    thread_id: z.string().optional(),
    run_id: z.string().optional(),
    tool_call_id: z.string(),
  })
  .meta({ id: 'DecisionAccepted' });

export const controlRoutes = ({ runtime }: Rooms) => [
  ...(['thread', 'run'] as const).flatMap((kind) => [
    route.post(`/v1/${kind}s/:id/cancel`, {
      summary: kind === 'run' ? 'Cancel a run' : 'Cancel what a thread is busy with',
      tag: `${kind}s`,
      scope: 'agent-invocation',
      params: Params,
      responses: { 202: CancelAccepted, 404: ErrorBody },
      async handle({ scope, params: { id } }) {
        await runtime.cancel(scope, id, kind);
        return reply(202, { status: 'cancel_requested', [`${kind}_id`]: id });
      },
    }),
    route.post(`/v1/${kind}s/:id/decision`, {
      summary: 'Decide a suspended tool call',
      tag: `${kind}s`,
      scope: 'agent-invocation',
      params: Params,
      body: DecisionBody,
      responses: { 202: DecisionAccepted, 400: ErrorBody, 404: ErrorBody, 422: ErrorBody },
      async handle({ scope, params: { id }, body }) {
        const { tool_call_id } = body;
        await runtime.decide(scope, id, kind, { ...body, action: actionOf(body.action) });
        return reply(202, { status: 'decision_submitted', [`${kind}_id`]: id, tool_call_id });
      },
    }),
  ]),
  route.post('/v1/threads/:id/interrupt', {
    summary: 'Stop what a thread is busy with and drop its queue',
    tag: 'threads',
    scope: 'agent-invocation',
    params: Params,
    responses: { 202: InterruptAccepted, 404: ErrorBody },
    async handle({ scope, params: { id } }) {
      const superseded_dispatches = await runtime.interrupt(scope, id);
      return reply(202, { status: 'interrupt_requested', thread_id: id, superseded_dispatches });
    },
  }),
];

const actionOf = (action: string): DecisionInput['action'] => {
  if (action === 'resume' || action === 'cancel') return action;
  throw new Invalid(`invalid action: ${action}, expected 'resume' or 'cancel'`);
};
