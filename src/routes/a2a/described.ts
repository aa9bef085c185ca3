import { z } from 'zod';
import { type Described, describe } from '../../http/mount.ts';
import { listOf } from '../../schema/list.ts';
import { INTERFACE_PATH } from './paths.ts';

/** The operations of A2A in the OpenAPI document. Each stands there once; all have a form with a tenant before them. */

const ErrorEnvelope = z
  .object({
    error: z.object({
      code: z.int(),
      status: z.string(),
      message: z.string(),
      details: z.array(z.looseObject({ '@type': z.string() })).optional(),
    }),
  })
  .meta({ id: 'A2aError' });

const SendMessage = z
  .looseObject({
    message: z.looseObject({
      messageId: z.string(),
      role: z.literal('ROLE_USER'),
      parts: listOf(z.looseObject({})),
      taskId: z.string().optional(),
      contextId: z.string().optional(),
    }),
    configuration: z.looseObject({}).optional(),
  })
  .meta({ id: 'A2aSendMessageRequest' });

const PushConfig = z
  .object({
    id: z.string().optional(),
    taskId: z.string().optional(),
    tenant: z.string().optional(),
    url: z.string(),
    token: z.string().optional(),
    authentication: z.object({ scheme: z.string(), credentials: z.string().optional() }).optional(),
  })
  .meta({ id: 'A2aPushNotificationConfig' });

const failures = { 400: ErrorEnvelope, 404: ErrorEnvelope };

const operation = (
  method: Described['method'],
  path: string,
  {
    summary,
    answer,
    body,
    more = {},
  }: {
    summary: string;
    answer: z.ZodType | string;
    body?: z.ZodType;
    more?: Described['spec']['responses'];
  },
): Described =>
  describe(method, `${INTERFACE_PATH}/${path}`, {
    summary,
    tag: 'a2a',
    scope: 'agent-invocation',
    ...(body && { body }),
    responses: { 200: answer, ...failures, ...more },
  });

const EVENTS = 'text/event-stream of StreamResponse';
const CONFIGS = 'tasks/:task_id/pushNotificationConfigs';

const operations: readonly Described[] = [
  operation('post', 'message:send', {
    summary: 'Sends a message; the answer is its task',
    answer: 'SendMessageResponse',
    body: SendMessage,
  }),
  operation('post', 'message:stream', {
    summary: 'Sends a message, and follows its task',
    answer: EVENTS,
    body: SendMessage,
  }),
  operation('get', 'tasks', { summary: 'Tasks, the last changed first', answer: 'ListTasksResponse' }),
  operation('get', 'tasks/:task_id', { summary: 'One task', answer: 'Task' }),
  operation('post', 'tasks/:task_id:cancel', {
    summary: 'Cancels a task',
    answer: 'Task',
    more: { 409: ErrorEnvelope },
  }),
  operation('post', 'tasks/:task_id:subscribe', { summary: 'Follows a task', answer: EVENTS }),
  operation('get', 'tasks/:task_id:subscribe', { summary: 'Follows a task', answer: EVENTS }),
  operation('post', CONFIGS, {
    summary: 'Has changes of a task sent to an address',
    answer: PushConfig,
    body: PushConfig,
  }),
  operation('get', CONFIGS, {
    summary: 'Where changes of a task are sent',
    answer: z.object({ configs: z.array(PushConfig), nextPageToken: z.string() }),
  }),
  operation('get', `${CONFIGS}/:config_id`, { summary: 'One of these addresses', answer: PushConfig }),
  describe('delete', `${INTERFACE_PATH}/${CONFIGS}/:config_id`, {
    summary: 'Sends nothing there any more',
    tag: 'a2a',
    scope: 'agent-invocation',
    responses: { 200: '{}, where the request names a version', 204: 'empty', ...failures },
  }),
  operation('get', 'extendedAgentCard', {
    summary: 'The card with all agents',
    answer: 'AgentCard',
    more: { 401: ErrorEnvelope, 501: ErrorEnvelope },
  }),
];

const discovery: readonly Described[] = [
  describe('get', '/.well-known/agent-card.json', {
    summary: 'Card of the public agent',
    tag: 'a2a',
    scope: 'agent-invocation',
    responses: { 200: 'AgentCard', 304: 'as before', ...failures },
  }),
];

export const described = { operations, discovery };
