import { z } from 'zod';
import { examples } from '../http/described.ts';
import { reply, route } from '../http/route.ts';
import { withAliases } from '../schema/aliases.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Json } from '../schema/json.ts';
import { Invalid } from '../schema/outcome.ts';
import { choice } from './choice.ts';
import { RunId, ThreadId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/** Cancel, interrupt and decide (runtime.md 11, 12). The id in a path may be that of a run, dispatch or thread. */

const PARAMS = { thread: z.object({ id: ThreadId }), run: z.object({ id: RunId }) } as const;

const Action = choice(
  ['resume', 'cancel'],
  (given) => new Invalid(`invalid action: ${given}, expected 'resume' or 'cancel'`),
);

const DecisionBody = withAliases(
  { toolCallId: 'tool_call_id' },
  {
    toolCallId: z.string().meta({
      description: 'of the ticket; the id of its call is taken while it can mean no other call',
    }),
    action: Action,
    payload: Json.default(null).meta({
      description:
        'for a permission `{"approved": true}` or `{"approved": false}`, with `arguments` that replace those of the call, and `remember` and `pattern`; else what the tool, or the model, gets',
    }),
    digest: z.string().optional().meta({
      description: 'of the call that was shown, or of the edited call; 409 when it is another one',
    }),
    reason: z.string().optional().meta({ description: 'for the record' }),
    decided_by: z.string().optional().meta({ description: 'who decided, for the record' }),
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
    description: 'What becomes of a call that waits.',
    ...examples({ toolCallId: 'call-1', action: 'resume', payload: { approved: true } }),
  });

export const CancelAccepted = z
  .object({
    status: z.literal('cancel_requested'),
    thread_id: z.string().optional(),
    run_id: z.string().optional(),
  })
  .meta({ id: 'CancelAccepted', description: 'It is durable that it ends.' });

export const InterruptAccepted = z
  .object({
    status: z.literal('interrupt_requested'),
    thread_id: z.string(),
    superseded_dispatches: z.int(),
  })
  .meta({ id: 'InterruptAccepted', description: 'What was queued is dropped.' });

const DecisionAccepted = z
  .object({
    status: z.literal('decision_submitted'),
    thread_id: z.string().optional(),
    run_id: z.string().optional(),
    tool_call_id: z.string(),
  })
  .meta({ id: 'DecisionAccepted', description: 'The decision is durable.' });

const KIND = { thread: 'Thread', run: 'Run' } as const;

export const controlRoutes = ({ runtime }: Pick<Rooms, 'runtime'>) => [
  ...(['thread', 'run'] as const).flatMap((kind) => [
    route.post(`/v1/${kind}s/:id/cancel`, {
      id: `cancel${KIND[kind]}`,
      summary: kind === 'run' ? 'Cancel a run' : 'Cancel what a thread is busy with',
      description:
        'Answers once it is durable that it ends; its stream tells when it has. The id may also be that of a dispatch.',
      tag: `${kind}s`,
      scope: 'agent-invocation',
      params: PARAMS[kind],
      responses: { 202: CancelAccepted, 404: ErrorBody },
      async handle({ scope, params: { id } }) {
        await runtime.cancel(scope, id, kind);
        return reply(202, { status: 'cancel_requested', [`${kind}_id`]: id });
      },
    }),
    route.post(`/v1/${kind}s/:id/decision`, {
      id: `decideOn${KIND[kind]}`,
      summary: 'Decide a suspended tool call',
      description:
        'Resumes the call, or refuses it. A call that waits for a permission is executed only when the payload has `"approved": true`, or when there is no payload. The id may also be that of a dispatch.',
      tag: `${kind}s`,
      scope: 'agent-invocation',
      params: PARAMS[kind],
      body: DecisionBody,
      responses: { 202: DecisionAccepted, 404: ErrorBody, 409: ErrorBody },
      async handle({ scope, params: { id }, body }) {
        const { tool_call_id } = body;
        await runtime.decide(scope, id, kind, body);
        return reply(202, { status: 'decision_submitted', [`${kind}_id`]: id, tool_call_id });
      },
    }),
  ]),
  route.post('/v1/threads/:id/interrupt', {
    id: 'interruptThread',
    summary: 'Stop what a thread is busy with and drop its queue',
    description:
      'What waits in the queue is superseded; the answer tells how many dispatches that were. The run ends soon after it.',
    tag: 'threads',
    scope: 'agent-invocation',
    params: PARAMS.thread,
    responses: { 202: InterruptAccepted, 404: ErrorBody },
    async handle({ scope, params: { id } }) {
      const superseded_dispatches = await runtime.interrupt(scope, id);
      return reply(202, { status: 'interrupt_requested', thread_id: id, superseded_dispatches });
    },
  }),
];
